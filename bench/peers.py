"""kith beside other clusterings on the very same faces, made up or of a dataset: ARI, seconds, peak memory.

    pip install . scipy && python bench/peers.py [--data DATASET]

Every method runs in a process of its own, one after the other, on one thread. Where a peer has to be told something
that nobody knows beforehand (a threshold, how many people there are), it is told the truth and the table says so.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


def faces(options):
    """People about the origin, photos about each of them, and who is who; or the faces of a dataset."""
    import numpy as np

    if options.data:
        with open(os.path.join(options.data, "faces.csv"), newline="") as table:
            names = [row["truth"] for row in csv.DictReader(table)]
        x = np.load(os.path.join(options.data, "embeddings.npy")).astype(np.float32)
        return x / np.linalg.norm(x, axis=1, keepdims=True), np.unique(names, return_inverse=True)[1]
    rng = np.random.default_rng(options.seed)
    people = rng.normal(0.0, options.spread, (options.people, options.dimension))
    truth = rng.permutation(np.repeat(np.arange(options.people), options.photos))
    return (people[truth] + rng.normal(size=(len(truth), options.dimension))).astype(np.float32), truth


def kith_short(x, truth):
    from kith import Kith

    est = Kith(
        model={"face": {"kind": "isotropic"}},
        n_chains=1,
        sweeps=2,
        burn_in=1,
        thin=1,
        n_jobs=1,
        random_state=1,
    )
    return est.fit_predict(x)


def kith_default(x, truth):
    from kith import Kith

    return Kith(n_jobs=1, random_state=1).fit_predict(x)


def mixture_default(x, truth):
    from sklearn.mixture import BayesianGaussianMixture

    n = 3 * (truth.max() + 1) // 2
    return BayesianGaussianMixture(n_components=n, covariance_type="spherical", random_state=1).fit_predict(x)


def mixture_tuned(x, truth):
    """Told how much photos vary (by about 1) and how many components are plenty."""
    from sklearn.mixture import BayesianGaussianMixture

    freedom = 1e5  # With fewer all faces come to be of a few wide components.
    return BayesianGaussianMixture(
        n_components=3 * (truth.max() + 1) // 2,
        covariance_type="spherical",
        weight_concentration_prior=1.0,
        mean_precision_prior=1.0,
        covariance_prior=freedom,  # scikit-learn divides it by the degrees of freedom
        degrees_of_freedom_prior=freedom,
        init_params="kmeans",
        max_iter=500,
        random_state=1,
    ).fit_predict(x)


def hdbscan(x, truth, smallest=5):
    import numpy as np
    from sklearn.cluster import HDBSCAN

    found = HDBSCAN(min_cluster_size=smallest, copy=True).fit_predict(x)
    # Whom it leaves out is somebody by themselves.
    return np.where(found < 0, found.max() + 1 + np.arange(len(found)), found)


def hdbscan_pairs(x, truth):
    return hdbscan(x, truth, smallest=2)


def linked(x, farthest):
    """Who is linked by steps of at most this cosine distance is one person: what Immich does in effect."""
    import numpy as np
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    rows, columns = [], []
    for first in range(0, len(x), 1024):
        near = np.nonzero(x[first : first + 1024] @ x.T > 1.0 - farthest)
        rows.append(near[0] + first)
        columns.append(near[1])
    rows, columns = np.concatenate(rows), np.concatenate(columns)
    graph = coo_matrix((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(len(x), len(x)))
    return connected_components(graph, directed=False)[1]


def linked_as_immich(x, truth):
    return linked(x, 0.5)


def linked_told(x, truth):
    """Told the distance that agrees best with the truth, out of twelve."""
    import numpy as np
    from sklearn.metrics import adjusted_rand_score

    cuts = (linked(x, farthest) for farthest in np.linspace(0.15, 0.7, 12))
    return max(cuts, key=lambda found: adjusted_rand_score(truth, found))


def average_linkage(x, truth):
    """Told the threshold that agrees best with the truth, out of two hundred."""
    import numpy as np
    from scipy.cluster.hierarchy import fcluster, linkage
    from sklearn.metrics import adjusted_rand_score

    tree = linkage(x, method="average")
    cuts = (
        fcluster(tree, t, criterion="distance") for t in np.quantile(tree[:, 2], np.linspace(0.8, 1.0, 200))
    )
    return max(cuts, key=lambda found: adjusted_rand_score(truth, found))


def bnpy_memoised(x, truth):
    import bnpy

    data = bnpy.data.XData(x.astype("float64"))
    model, info = bnpy.run(
        data,
        "DPMixtureModel",
        "DiagGauss",
        "memoVB",
        nLap=50,
        nTask=1,
        K=50,
        initname="randexamples",
        moves="birth,merge,shuffle",
        output_path=tempfile.mkdtemp(),
        printEvery=1000,
    )
    return model.calc_local_params(data)["resp"].argmax(axis=1)


METHODS = {
    "kith, isotropic, one chain, 2 sweeps": kith_short,
    "scikit-learn BayesianGaussianMixture, as it comes": mixture_default,
    "scikit-learn BayesianGaussianMixture, tuned by hand": mixture_tuned,
    "scikit-learn HDBSCAN, groups of 5": hdbscan,
    "scikit-learn HDBSCAN, groups of 2": hdbscan_pairs,
    "linked within a distance of 0.5, as in Immich": linked_as_immich,
    "linked within a distance, told the best": linked_told,
    "scipy average linkage, told the best threshold": average_linkage,
    "bnpy, memoised variational with births and merges": bnpy_memoised,
    "kith, as it comes": kith_default,
}


def one(name, options):
    """Runs one method; prints what it came to."""
    from sklearn.metrics import adjusted_rand_score

    x, truth = faces(options)
    started = time.perf_counter()
    try:
        found = METHODS[name](x, truth)
    except Exception as error:  # a method that does not run is a line of the table, not the end of it
        print(json.dumps({"error": f"{type(error).__name__}: {error}".splitlines()[0]}))
        return
    seconds = time.perf_counter() - started
    ari = adjusted_rand_score(truth, found)
    print(json.dumps({"ari": ari, "seconds": seconds, "people": len(set(found.tolist()))}))


def watched(command, seconds):
    """What a command printed last, how long it took, and its peak memory in bytes."""
    started = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, env={**os.environ, **ONE_THREAD}, text=True
    ) as child:
        timer = threading.Timer(seconds, child.kill)
        timer.start()
        out = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        timer.cancel()
    taken = time.perf_counter() - started
    lines = out.strip().splitlines()
    return (lines[-1] if lines and child.returncode == 0 else None), taken, 1024 * usage.ru_maxrss


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("--data", metavar="DATASET", help="a folder with embeddings.npy and truth in faces.csv")
    parse.add_argument("--people", default=266, type=int)
    parse.add_argument("--photos", default=38, type=int)
    parse.add_argument("--dimension", default=128, type=int)
    parse.add_argument(
        "--spread", default=0.6, type=float, help="so that a nearest neighbour is right 97 %% of the time"
    )
    parse.add_argument("--seed", default=1, type=int)
    parse.add_argument("--seconds", default=900, type=float, help="a method is stopped after this long")
    parse.add_argument("--only", action="append", metavar="TEXT", help="methods whose names have this text")
    parse.add_argument("--one", metavar="METHOD", help=argparse.SUPPRESS)
    options = parse.parse_args()
    if options.one:
        return one(options.one, options)
    x, truth = faces(options)
    print(f"{len(x)} faces of {truth.max() + 1} people, D = {x.shape[1]}\n")
    print("| method | ARI | people | seconds | peak memory |\n|---|---|---|---|---|")
    for name in METHODS:
        if not options.only or any(text in name for text in options.only):
            compare(name, options)


def compare(name, options):
    last, taken, peak = watched([sys.executable, *sys.argv, "--one", name], options.seconds)
    found = json.loads(last) if last else {"error": f"stopped after {taken:.0f} s"}
    if "error" in found:
        print(f"| {name} | {found['error']} | | | |", flush=True)
    else:
        figures = f"{found['ari']:.3f} | {found['people']} | {found['seconds']:.1f} | {peak / 1e6:.0f} MB"
        print(f"| {name} | {figures} |", flush=True)


if __name__ == "__main__":
    main()

"""Processor time per 12-megapixel photo: `kith add` against OpenCV's decoder and onnxruntime, in one run.

    python bench/photos.py --models DIR --photos DIR [--n 24] [--kith target/release/kith]
    python bench/photos.py --photos DIR --png target/photos-png

`pip install numpy opencv-python-headless onnxruntime`. DIR has `face_detector_yunet.onnx` and
`face_embedder_mobileface_v2.onnx`; the photos are any faces. Photos of 12 megapixels are made of four small ones each,
enlarged. Both sides use one thread, whole pictures and a detector that sees 640 pixels. With --png the photos are written
as OpenCV decodes them, for the test of the same pixels.
"""

import argparse, glob, os, resource, subprocess, tempfile, time

import cv2
import numpy as np

TEMPLATE = np.array([[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]])


def large(paths, k):
    """Four photos side by side, 4000 x 3000."""
    parts = [cv2.imread(paths[(4 * k + i) % len(paths)]) for i in range(4)]
    parts = [cv2.resize(part, (2000, 1500), interpolation=cv2.INTER_CUBIC) for part in parts]
    return np.vstack([np.hstack(parts[:2]), np.hstack(parts[2:])])


class Peer:
    """OpenCV's decoder and YuNet's decoding, onnxruntime for both networks."""

    def __init__(self, models):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        load = lambda name: onnxruntime.InferenceSession(os.path.join(models, name), options, providers=["CPUExecutionProvider"])
        self.detector, self.embedder = load("face_detector_yunet.onnx"), load("face_embedder_mobileface_v2.onnx")
        self.names = [f"{kind}_{stride}" for kind in ("cls", "obj", "bbox", "kps") for stride in (8, 16, 32)]
        cv2.setNumThreads(1)

    def faces(self, image):
        factor = max(image.shape[:2]) / 640
        small = cv2.resize(image, (round(image.shape[1] / factor), round(image.shape[0] / factor)), interpolation=cv2.INTER_AREA)
        h, w = (-(-side // 32) * 32 for side in small.shape[:2])
        padded = np.zeros((h, w, 3), np.float32)
        padded[: small.shape[0], : small.shape[1]] = small
        outputs = self.detector.run(self.names, {self.detector.get_inputs()[0].name: padded.transpose(2, 0, 1)[None]})
        boxes, scores, points = [], [], []
        for level, stride in enumerate((8, 16, 32)):
            cls, obj, bbox, kps = (outputs[3 * kind + level][0] for kind in range(4))
            score = np.sqrt(np.clip(cls[:, 0], 0, 1) * np.clip(obj[:, 0], 0, 1))
            for cell in np.nonzero(score >= 0.7)[0]:
                column, row = cell % (w // stride), cell // (w // stride)
                size = np.exp(bbox[cell, 2:]) * stride
                centre = (np.array([column, row]) + bbox[cell, :2]) * stride
                boxes.append([*(centre - size / 2), *size])
                scores.append(float(score[cell]))
                points.append((kps[cell].reshape(5, 2) + [column, row]) * stride * factor)
        return [points[k] for k in cv2.dnn.NMSBoxes(boxes, scores, 0.7, 0.3)]

    def look(self, path):
        image = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR)
        found = []
        for points in self.faces(image):
            matrix = cv2.estimateAffinePartial2D(points, TEMPLATE, method=cv2.LMEDS)[0]
            crop = cv2.cvtColor(cv2.warpAffine(image, matrix, (112, 112)), cv2.COLOR_BGR2RGB)
            data = crop.transpose(2, 0, 1)[None].astype(np.float32)
            found.append(self.embedder.run(None, {self.embedder.get_inputs()[0].name: data})[0][0])
        return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models")
    parser.add_argument("--photos", required=True)
    parser.add_argument("--n", type=int, default=24)
    parser.add_argument("--kith", default="target/release/kith")
    parser.add_argument("--png")
    options = parser.parse_args()
    paths = sorted(glob.glob(os.path.join(options.photos, "*.jpg")))
    if options.png:
        os.makedirs(options.png, exist_ok=True)
        for path in paths:
            name = os.path.splitext(os.path.basename(path))[0]
            cv2.imwrite(os.path.join(options.png, name + ".png"), cv2.imread(path))
        return
    with tempfile.TemporaryDirectory() as folder:
        photos = os.path.join(folder, "photos")
        os.mkdir(photos)
        for k in range(options.n):
            cv2.imwrite(os.path.join(photos, f"{k:03}.jpg"), large(paths, k), [cv2.IMWRITE_JPEG_QUALITY, 92])
        files = sorted(glob.glob(os.path.join(photos, "*.jpg")))
        size = sum(map(os.path.getsize, files)) / len(files) / 1e6
        peer = Peer(options.models)
        peer.look(files[0])
        ours, theirs = [], []
        for _ in range(3):
            start = time.process_time()
            n_theirs = sum(len(peer.look(path)) for path in files)
            theirs.append((time.process_time() - start) / len(files))
            library = os.path.join(folder, "library")
            if os.path.exists(library):
                os.remove(library)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [options.kith, "add", library, photos, "--models", options.models, "--threads", "1"]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            ours.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / len(files))
        print(f"{len(files)} photos of 4000 x 3000, {size:.1f} MB each; processor time per photo, least of three")
        print(f"OpenCV and onnxruntime: {1000 * min(theirs):.0f} ms, {n_theirs} faces (embeddings alone)")
        print(f"kith add:               {1000 * min(ours):.0f} ms, {said} (with thumbnails, measures and the library)")
        print(f"ratio {min(ours) / min(theirs):.2f}; peak memory of kith {after.ru_maxrss / 1e3:.0f} MB")


if __name__ == "__main__":
    main()

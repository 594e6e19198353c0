//! A million faces load fast and without a second copy. Slow: about ten seconds and 0.6 GB of disk.

use kith_io::{dataset, npy};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

const N_FACES: usize = 1_000_000;
const DIMENSION: usize = 128;

#[cfg(target_os = "linux")]
#[test]
#[ignore = "ten seconds, 0.6 GB of disk"]
fn a_million_faces_take_little_more_memory_than_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    write_dataset(folder.path()).unwrap();
    let block = (N_FACES * DIMENSION * 4) as f64;

    let start = Instant::now();
    let embeddings = npy::read(&folder.path().join("embeddings.npy")).unwrap();
    let (seconds, peak) = (start.elapsed().as_secs_f64(), peak_memory());
    println!("embeddings.npy: {seconds:.2} s, peak {:.0} MB, {:.3} of the block", peak / 1e6, peak / block);
    assert_eq!((embeddings.len(), embeddings.row(N_FACES - 1)[0]), (N_FACES, 0.5));
    assert!(peak < 1.15 * block);
    drop(embeddings);

    let start = Instant::now();
    let table = dataset::read(folder.path()).unwrap();
    let (seconds, peak) = (start.elapsed().as_secs_f64(), peak_memory());
    println!("with faces.csv: {seconds:.2} s, peak {:.0} MB, {:.3} of the block", peak / 1e6, peak / block);
    assert_eq!(table.faces[N_FACES - 1], "face 999999");
}

/// Half of the faces alone in their frame, half in pairs.
fn write_dataset(folder: &Path) -> std::io::Result<()> {
    let mut npy = std::io::BufWriter::new(std::fs::File::create(folder.join("embeddings.npy"))?);
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({N_FACES}, {DIMENSION}), }}");
    npy.write_all(b"\x93NUMPY\x01\x00\x76\x00")?;
    writeln!(npy, "{header:<117}")?;
    let row = 0.5_f32.to_le_bytes().repeat(DIMENSION);
    (0..N_FACES).try_for_each(|_| npy.write_all(&row))?;
    npy.flush()?;
    let mut csv = std::io::BufWriter::new(std::fs::File::create(folder.join("faces.csv"))?);
    writeln!(csv, "face,frame,truth")?;
    for face in 0..N_FACES {
        let frame = if face < N_FACES / 2 { String::new() } else { (face / 2).to_string() };
        writeln!(csv, "face {face},{frame},person {}", face % 1000)?;
    }
    csv.flush()
}

/// The most memory this process has held, in bytes.
fn peak_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() * 1024.0
}

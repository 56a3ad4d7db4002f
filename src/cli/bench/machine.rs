//! What the machine says of this process and of a folder.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use super::stats::Stats;

/// The most memory that this process has had, in bytes; 0 where the system does not say.
pub(super) fn resident_peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// How busy the machine is: the load average of the last minute; 0 where the system does not say.
pub(super) fn load_average() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|load| load.parse().ok()).unwrap_or(0.0)
}

/// Bytes of all files of a folder.
pub(super) fn folder_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => folder_bytes(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    bytes.sum()
}

/// What 4 KiB more and an fdatasync take on the disk of a folder.
pub(super) fn fdatasync(folder: &Path) -> std::io::Result<Stats> {
    let path = folder.join("fdatasync");
    let mut file = File::create(&path)?;
    let mut latencies: Vec<Duration> = Vec::new();
    for _ in 0..200 {
        let start = Instant::now();
        file.write_all(&[7; 4096])?;
        file.sync_data()?;
        latencies.push(start.elapsed());
    }
    fs::remove_file(path)?;
    Ok(Stats::new(&latencies))
}

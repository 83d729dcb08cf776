//! Fuzz targets for the engine: each makes a case of any bytes and panics where the engine breaks a promise.
//!
//! They are plain functions, so the default tests run them too: over the seeds in `seeds/`, which hold every past finding,
//! and over random bytes. `make fuzz` runs them under libFuzzer, which looks for inputs that reach new code.

mod cut;
mod decode;
mod encode;
mod input;
mod naive;
mod split;
mod train;
mod vocabulary;

pub use cut::cut;
pub use decode::decode;
pub use encode::encode;
pub use split::split;
pub use train::train;
pub use vocabulary::ids_of_list;

/// A target: it panics on a finding.
pub type Target = fn(&[u8]);

/// All targets by name; the seeds of each are in the folder of that name.
pub const TARGETS: [(&str, Target); 5] =
    [("split", split), ("encode", encode), ("cut", cut), ("decode", decode), ("train", train)];

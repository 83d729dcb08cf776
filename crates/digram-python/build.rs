//! Tells the code which Python it is built for, as `cfg(Py_GIL_DISABLED)` and the like.

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
}

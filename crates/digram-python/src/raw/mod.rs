//! What reaches into CPython's objects: the characters of a str, the items of a list, numbers that numpy takes over. All of the
//! binding's `unsafe` is here.
#![allow(unsafe_code)]

pub mod bytes;
pub mod ints;
pub mod lists;
pub mod numbers;
pub mod text;

#[rt::test]
fn not_async() {}

#[rt::test]
async fn arguments(number: u32) {
    let _ = number;
}

#[rt::test]
async fn generic<T>() {}

#[rt::test]
async fn generic_beside_a_lifetime<'a, const N: usize>() {}

#[rt::test]
#[test]
async fn twice() {}

#[rt::test]
#[core::prelude::v1::test]
async fn twice_by_path() {}

#[rt::test]
#[should_panic]
#[doc = "An attribute that takes no arguments."]
async fn arguments_and_attributes(number: u32) {
    let _ = number;
}

fn main() {}

#[rt::main(worker_thread = 2)]
async fn main() {}

#[rt::main(colour = "blue")]
async fn nothing_like_it() {}

#[rt::main(current_thread)]
async fn a_flavor_alone() {}

#[rt::main("multi_thread")]
async fn a_string_alone() {}

#[rt::main(, flavor = "multi_thread")]
async fn a_comma_too_many() {}

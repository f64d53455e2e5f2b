use std::time::Instant;
use lambda_idempotency_key::canonical;
fn main(){
  let item=|line:usize| format!(r#"{{"sku":"SKU-{line:06}","qty":{},"price":{}.95,"gift":false,"note":"Please wrap \"{line}\" in paper, and leave it at the door.\nThanks","tags":["a","b{line}"],"discount":null}}"#, line%7+1, line%1000);
  let items: Vec<String> = (0..26000).map(item).collect();
  let arr = format!("[{}]", items.join(","));
  let sorted = format!(r#"{{"a":1,"items":{arr}}}"#);
  let unsorted = format!(r#"{{"order_id":9007199254740993,"version":3,"items":{arr}}}"#);
  let canon = canonical(&arr).unwrap();
  for _ in 0..2 { for (n,j) in [("arr",&arr),("sorted",&sorted),("unsorted",&unsorted),("canon",&canon)] {
    let mut best=f64::MAX; for _ in 0..30 { let s=Instant::now(); std::hint::black_box(canonical(j).unwrap()); best=best.min(s.elapsed().as_secs_f64()); }
    println!("{n} {} {:.2}ms", j.len(), best*1e3);
  }
    let mut best=f64::MAX; let mut v=vec![1u8;5_000_000]; for i in 0..30 { let s=Instant::now(); v.copy_within(60..4_999_000, 20+i); best=best.min(s.elapsed().as_secs_f64()); std::hint::black_box(&v);}
    println!("memmove {:.2}ms", best*1e3);
    let mut best=f64::MAX; for _ in 0..30 { let s=Instant::now(); let mut v:Vec<u8>=Vec::with_capacity(5_000_000); v.extend_from_slice(arr.as_bytes()); std::hint::black_box(&v); best=best.min(s.elapsed().as_secs_f64()); }
    println!("alloc+copy {:.2}ms", best*1e3);
  }
}

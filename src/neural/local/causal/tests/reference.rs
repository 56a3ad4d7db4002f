//! The decoder in plain loops over `f32`, one token after another, without cache or batches.

use super::tiny::{HEADS, INNER, KV_HEADS, LAYERS, Tiny};

/// The scores of what comes after the ids.
pub(super) fn scores(tiny: &Tiny, ids: &[u32]) -> Vec<f32> {
    let table = tiny.weight("model.embed_tokens.weight");
    let hidden = tiny.hidden();
    let row = |id: &u32| table[*id as usize * hidden..][..hidden].to_vec();
    let mut xs: Vec<Vec<f32>> = ids.iter().map(row).collect();
    for layer in 0..LAYERS {
        let name = |part: &str| format!("model.layers.{layer}.{part}");
        let normed = norm_all(&xs, tiny.weight(&name("input_layernorm.weight")));
        let attended = attention(tiny, layer, &normed);
        add(&mut xs, &attended);
        let normed = norm_all(&xs, tiny.weight(&name("post_attention_layernorm.weight")));
        let fed: Vec<Vec<f32>> = normed
            .iter()
            .map(|x| {
                let gate = product(tiny.weight(&name("mlp.gate_proj.weight")), x, INNER);
                let up = product(tiny.weight(&name("mlp.up_proj.weight")), x, INNER);
                let silu = |x: f32| x / (1.0 + (-x).exp());
                let inner: Vec<f32> = gate.iter().zip(up).map(|(g, u)| silu(*g) * u).collect();
                product(tiny.weight(&name("mlp.down_proj.weight")), &inner, hidden)
            })
            .collect();
        add(&mut xs, &fed);
    }
    let last = norm(xs.last().unwrap(), tiny.weight("model.norm.weight"));
    let output = if tiny.tied() { table } else { tiny.weight("lm_head.weight") };
    product(output, &last, output.len() / hidden)
}

fn attention(tiny: &Tiny, layer: usize, xs: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let size = tiny.head_size();
    let project = |part: &str, heads: usize, x: &[f32], place: usize| -> Vec<Vec<f32>> {
        let name = |end: &str| format!("model.layers.{layer}.self_attn.{part}_{end}");
        let mut out = product(tiny.weight(&name("proj.weight")), x, heads * size);
        if let Some(bias) = tiny.find(&name("proj.bias")) {
            out.iter_mut().zip(bias).for_each(|(x, b)| *x += b);
        }
        let heads = out.chunks(size).map(|head| {
            let mut head = head.to_vec();
            if let Some(scale) = tiny.find(&name("norm.weight")) {
                head = norm(&head, scale);
            }
            if part != "v" {
                turn(tiny, &mut head, place);
            }
            head
        });
        heads.collect()
    };
    let all = |part: &str, heads: usize| -> Vec<Vec<Vec<f32>>> {
        xs.iter().enumerate().map(|(place, x)| project(part, heads, x, place)).collect()
    };
    let (q, k, v) = (all("q", HEADS), all("k", KV_HEADS), all("v", KV_HEADS));
    let output = tiny.weight(&format!("model.layers.{layer}.self_attn.o_proj.weight"));
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    let look = |place: usize, head: usize| -> Vec<f32> {
        let group = head / (HEADS / KV_HEADS);
        let score = |i: usize| dot(&q[place][head], &k[i][group]) / (size as f32).sqrt();
        let powers: Vec<f32> = (0..=place).map(|i| score(i).exp()).collect();
        let sum: f32 = powers.iter().sum();
        let value = |j: usize| (0..=place).map(|i| powers[i] / sum * v[i][group][j]).sum();
        (0..size).map(value).collect()
    };
    let one = |place: usize| {
        let joined: Vec<f32> = (0..HEADS).flat_map(|head| look(place, head)).collect();
        product(output, &joined, tiny.hidden())
    };
    (0..xs.len()).map(one).collect()
}

/// Turns the pairs that lie half a head apart.
fn turn(tiny: &Tiny, head: &mut [f32], place: usize) {
    let half = head.len() / 2;
    for i in 0..half {
        let factor = tiny.factors.as_ref().map_or(1.0, |factors| factors[i]);
        let turn = tiny.theta().powf(-(i as f32) / half as f32) / factor;
        let (sin, cos) = (place as f32 * turn).sin_cos();
        let (a, b) = (head[i], head[i + half]);
        head[i] = a * cos - b * sin;
        head[i + half] = b * cos + a * sin;
    }
}

fn norm_all(xs: &[Vec<f32>], scale: &[f32]) -> Vec<Vec<f32>> {
    xs.iter().map(|x| norm(x, scale)).collect()
}

fn norm(x: &[f32], scale: &[f32]) -> Vec<f32> {
    let mean = x.iter().map(|x| x * x).sum::<f32>() / x.len() as f32;
    let factor = 1.0 / (mean + 1e-5).sqrt();
    x.iter().zip(scale).map(|(x, scale)| x * factor * scale).collect()
}

fn add(xs: &mut [Vec<f32>], ys: &[Vec<f32>]) {
    for (x, y) in xs.iter_mut().zip(ys) {
        x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
    }
}

/// A weight (outputs, inputs) times a row.
fn product(weight: &[f32], x: &[f32], outputs: usize) -> Vec<f32> {
    assert_eq!(weight.len(), outputs * x.len());
    weight.chunks(x.len()).map(|row| row.iter().zip(x).map(|(w, x)| w * x).sum()).collect()
}

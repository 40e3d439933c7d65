import { simulate } from "./simulate.ts";

const [first = 1, count = 20] = process.argv.slice(2).map(Number);
const begun = performance.now();
let shown = 0;
const sums: Record<string, number> = {};
const bad: Record<string, number[]> = {};
for (let seed = first; seed < first + count; seed++) {
  const o = await simulate(seed, process.env["SIM_TRACE"] ? (l) => console.log(l) : undefined);
  for (const [k, v] of Object.entries(o.verdict)) {
    sums[k] = (sums[k] ?? 0) + v;
    if (v > 0 && !["statusReads", "nodesCreated", "readyNodesStopped"].includes(k)) (bad[k] ??= []).push(seed);
  }
  sums.crashes = (sums.crashes ?? 0) + o.crashes;
  sums.seconds = (sums.seconds ?? 0) + o.simulatedSeconds;
  if (o.defects.length && shown++ < 3) console.log(seed, o.defects[0]);
}
console.log(sums);
for (const [k, v] of Object.entries(bad)) console.log(k, v.length, v.slice(0, 12).join(" "));
console.log(((performance.now() - begun) / count).toFixed(1), "ms per seed");

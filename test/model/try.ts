import * as fc from "fast-check";
import { memoryRecordStore } from "../../src/adapters/memory/record-store.ts";
import { play } from "./play.ts";
import { sequences } from "./steps.ts";
const [from = "1", n = "20", steps="60"] = process.argv.slice(2);
const arb = sequences(Number(steps));
let cmp=0, bl=0, st=0, an=0, bad=0; const t=process.cpuUsage();
for (let seed = Number(from); seed < Number(from)+Number(n); seed++) {
  const [seq] = fc.sample(arb, { seed, numRuns: 1 });
  const p = await play(seq!, memoryRecordStore());
  cmp+=p.compared; bl+=p.blurred; st+=p.stops; an+=p.answers;
  if (p.differences.length) { bad++; if (bad<6) console.log(seed, p.differences[0]!.slice(0,600)); }
}
console.log({bad, cmp, bl, st, an, cpu: process.cpuUsage(t).user/1e6});

import * as fc from "fast-check";
import { memoryRecordStore } from "../../src/adapters/memory/record-store.ts";
import { play } from "./play.ts";
import { sequences } from "./steps.ts";
const [seed="1", steps="100"] = process.argv.slice(2);
const [seq] = fc.sample(sequences(Number(steps)), { seed: Number(seed), numRuns: 1 });
const first = await play(seq!, memoryRecordStore());
console.log(first.differences[0]);
const t = Date.now(); let runs=0;
const d = await fc.check(fc.asyncProperty(sequences(Number(steps), 0), async (s) => { runs++; const p = await play(s, memoryRecordStore()); return p.differences.length === 0; }), { examples: [[seq!]], numRuns: 1, interruptAfterTimeLimit: 60000 });
console.log(d.failed, d.numShrinks, runs, Date.now()-t);
const s = d.counterexample?.[0];
if (s) { console.log(JSON.stringify(s.shape)); for (const st of s.steps) console.log(JSON.stringify(st)); console.log((await play(s, memoryRecordStore())).differences); }

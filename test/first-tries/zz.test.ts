import { test } from "vitest";
import { writeFileSync } from "node:fs";
import { JOB_TRIES, KIND_TRIES, KINDS, pairTries } from "./inputs.ts";
import { NODEARRAY_TRIES, PROPERTY_TRIES } from "./property-tries.ts";
import { readOurs, readCaptured } from "./documents.ts";
import { faultsOf } from "./try-all.ts";
test("x", () => {
  const ours = readOurs();
  const cap = readCaptured(new URL("../../../shared/captured/docs/", import.meta.url));
  const out: string[] = [];
  for (const one of [
    ...JOB_TRIES,
    ...KIND_TRIES,
    ...PROPERTY_TRIES,
    ...NODEARRAY_TRIES,
    ...Object.keys(KINDS).flatMap(pairTries),
  ])
    for (const f of faultsOf(one)) out.push(`${one.name} | ${f}`);
  for (const one of ours.tries)
    for (const f of faultsOf(one, ours.clusters)) out.push(`DOC ${one.name} | ${f}`);
  for (const one of cap.tries)
    for (const f of faultsOf(one, cap.clusters.slice(3))) out.push(`CAP ${one.name} | ${f}`);
  writeFileSync("/tmp/out.txt", out.join("\n"));
}, 300_000);

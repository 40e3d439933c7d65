import { z } from "zod";
import type { Random } from "../../src/simulator/random.ts";
import { seedRandom } from "../../src/simulator/random.ts";
import { DATA, readText } from "./data.ts";

/** Figures at the shares `at` of all jobs, from the smallest to the largest. */
const figures = z.array(z.number());
const file = z.strictObject({
  at: z.array(z.number()),
  workloads: z.record(
    z.string(),
    z.strictObject({
      jobs: z.number(),
      gapSeconds: figures,
      requestedSeconds: figures.optional(),
      /** Jobs from narrow to wide: wide ones run longer. */
      widths: z.array(z.strictObject({ share: z.number(), processors: figures, runSeconds: figures })),
    }),
  ),
});
const { at: AT, workloads: WORKLOADS } = file.parse(JSON.parse(readText(`${DATA}workloads.json`)));

/** The recorded workloads that are known by their figures. */
export type Likeness = "KTH-SP2" | "LCG" | "NASA-iPSC" | "CEA-Curie" | "MetaCentrum";

/** What the Standard Workload Format leaves open, as each of these logs has it: its headers, and one line of a job. */
const FORMS: Readonly<Record<Likeness, { readonly header: string; readonly line: (job: Job) => string }>> = {
  "KTH-SP2": {
    header: "; Version: 2.2\n; MaxNodes: 100\n; MaxProcs: 100\n; Note: made up",
    line: ({ id, at, run, width, walltime, odd }) =>
      `${id} ${at} 0 ${odd ? 0 : run} ${width} -1 -1 ${width} ${walltime} -1 ${odd ? 0 : 1} 1 1 -1 1 -1 -1 -1`,
  },
  LCG: {
    header: "; Version: 2.2\n; MaxProcs: 24115",
    line: ({ id, at, run }) => `${id} ${at} -1 ${run} 1 -1 -1 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1`,
  },
  // Neither requests nor waits are known there.
  "NASA-iPSC": {
    header: "; Version: 2.2\n;\n; MaxNodes: 128\n; MaxProcs: 128",
    line: ({ id, at, run, width, odd }) =>
      `  ${id}  ${at}  -1  ${odd ? 0 : run}  ${width} -1 -1 -1 -1 -1 -1 3 1 1 0 -1 -1 -1`,
  },
  "CEA-Curie": {
    header: "; MaxProcs: 93312",
    line: ({ id, at, run, width, walltime, odd }) =>
      `${id} ${43_603_464 + at} 7 ${run} ${width} -1 -1 ${odd ? width + 4 : width} ${walltime} -1 ${odd ? 5 : 1} 4 168 -1 -1 10 -1 -1`,
  },
  // No header, Unix time, and three columns behind the eighteen: machines, a queue, and nodes as PBS is asked for them.
  MetaCentrum: {
    header: "",
    line: ({ id, at, run, width, walltime, odd }) =>
      `${id} ${1_356_996_147 + at} 0 ${odd ? -1 : run} ${width} 1 1024 ${width} ${walltime} 68719476736 1 62 1 1 -1 1 1 1 {${Array.from({ length: width }, () => "1241").join(",")}} q_1d 1:ppn=${width}:x86_64#excl`,
  },
};

interface Job {
  readonly id: number;
  /** Seconds since the first job. */
  readonly at: number;
  readonly run: number;
  readonly width: number;
  readonly walltime: number;
  /** One of a hundred shows what is rare in that log. */
  readonly odd: boolean;
}

/** A workload drawn with the figures of a recorded one, as text in its form. The same seed gives the same text. */
export function workloadLike(
  name: Likeness,
  { jobs, seed = 1 }: { jobs?: number; seed?: number } = {},
): string {
  const figures = WORKLOADS[name];
  if (figures === undefined) throw new Error(`no figures of ${name}`);
  const random = seedRandom(seed);
  const lines = [FORMS[name].header];
  let at = 0;
  for (let id = 1; id <= (jobs ?? figures.jobs); id += 1) {
    const share = random();
    let below = 0;
    const kind = figures.widths.find((one) => (below += one.share) > share) ?? figures.widths[0];
    if (kind === undefined) throw new Error(`no widths of ${name}`);
    const width = drawWidth(random, kind.processors);
    const run = drawTime(random, kind.runSeconds);
    const walltime = figures.requestedSeconds === undefined ? -1 : drawTime(random, figures.requestedSeconds);
    lines.push(FORMS[name].line({ id, at, run, width, walltime, odd: random() < 0.01 }));
    at += drawTime(random, figures.gapSeconds);
  }
  return `${lines.join("\n")}\n`;
}

/** A time between two quantiles, evenly on a scale of ratios: the ends are far away, and most jobs are not there. */
function drawTime(random: Random, quantiles: readonly number[]): number {
  const { from, to, part } = drawPlace(random, quantiles);
  return Math.round((from + 1) * ((to + 1) / (from + 1)) ** part - 1);
}

/** A width that is one of the quantiles: in some logs only powers of two are there. */
function drawWidth(random: Random, quantiles: readonly number[]): number {
  const { from, to, part } = drawPlace(random, quantiles);
  return part < 0.5 ? from : to;
}

function drawPlace(random: Random, quantiles: readonly number[]) {
  const share = random();
  const above = Math.max(
    1,
    AT.findIndex((one) => one > share),
  );
  const [from = 0, to = from] = [quantiles[above - 1], quantiles[above]];
  const [low = 0, high = 1] = [AT[above - 1], AT[above]];
  return { from, to, part: (share - low) / (high - low) };
}

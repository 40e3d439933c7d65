import type { Mode } from "../../src/domain/mode.ts";
import type { ChangesOptions } from "./changes-stage.ts";
import { ChangesStage } from "./changes-stage.ts";

/** Scenes that are played with many seeds, and the numbers that show what breaks. */

/**
 * A host dies before it sends a create that it has committed. Then the cluster is observed. Returns how many create requests others send
 * for it, and whether anything is left open.
 */
export async function playTakenOver(
  seed: number,
): Promise<{ readonly resent: number; readonly open: number }> {
  const stage = new ChangesStage(seed, { hosts: 2 });
  stage.diesBeforeCreate = true;
  stage.push(5);
  while (stage.diesBeforeCreate) await stage.pass(1);
  stage.begin(() => stage.change("observe"));
  await stage.pass(300);
  return { resent: stage.creates.length, open: await stage.open("create") };
}

export interface ChangesSeen {
  /** Effects that were committed after `observe` was answered. */
  readonly late: number;
  /** How often the cluster was not planned ten seconds after a change that came last, or alone. */
  readonly unplanned: number;
  /** The longest time without a plan, in seconds. */
  readonly gap: number;
  /** The longest time until a change that only turns arrays to observe was answered, in seconds. */
  readonly waited: number;
}

/** `observe` and `act` in turn, one a second, while demand rises each second. */
export async function playChanges(
  seed: number,
  { seconds = 40, ...options }: ChangesOptions & { readonly seconds?: number } = {},
): Promise<ChangesSeen> {
  const stage = new ChangesStage(seed, options);
  stage.push(1);
  await stage.pass(5);
  const ended: Mode[] = [];
  stage.begin(async () => {
    for (let turn = 0; turn < seconds; turn += 1) {
      await stage.change(turn % 2 === 0 ? "observe" : "act");
      stage.push(turn + 2);
      await stage.clock.sleep(1000);
    }
    await stage.change("act");
    ended.push("act");
  });
  while (ended.length === 0) await stage.pass(1);
  const times = [...stage.planned, stage.seconds];
  await stage.pass(10);
  const gap = Math.max(...times.map((at, index) => at - (times[index - 1] ?? 0)));
  let unplanned = Number(!(await stage.isPlanned()));
  for (const mode of ["observe", "act"] as const) {
    stage.begin(() => stage.change(mode));
    await stage.pass(10);
    unplanned += Number(!(await stage.isPlanned()));
  }
  return { late: stage.late, unplanned, gap, waited: stage.waited.observe };
}

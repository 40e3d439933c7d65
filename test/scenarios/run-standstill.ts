import type { Standstill } from "./standstill-stage.ts";
import { playAccepted, playBoot, playCreate, playNeeded, playStop, playUnseen } from "./standstill-stage.ts";

/**
 * What a standstill may do: stop nodes after they have opened, make nodes twice, also where no instance that saw it lives on, make nodes again
 * that are booting, tell nodes to open whose stop is accepted, and stop nodes that are needed.
 */
const PLAYS: Readonly<Record<string, (one: Standstill) => Promise<number>>> = {
  open: async (one) => (await playStop(one)).open,
  twice: async (one) => Math.max(0, (await playCreate(one)) - 25),
  boot: async (one) => Math.max(0, (await playBoot(one)) - 5),
  told: async (one) => Number((await playAccepted(one))?.undrain === true),
  needed: async (one) => Math.max(0, (await playNeeded(one)) - 1),
  unseen: async (one) => Math.max(0, (await playUnseen(one)) - 25),
};

/**
 * Plays standstills as a process of its own. Arguments: the name of one of {@link PLAYS}, and the standstills as JSON. Prints the number of nodes to
 * which that happened.
 */
const [what = "open", given = "[]"] = process.argv.slice(2);
const standstills: readonly Standstill[] = JSON.parse(given);
let found = 0;
for (const one of standstills) found += (await PLAYS[what]?.(one)) ?? 0;
process.stdout.write(`${found}\n`);

import type { DemandOutcome } from "../../src/domain/plan.ts";
import { findFaults } from "../property/naive-checker.ts";
import { crowdFaults } from "../property/naive-jobs.ts";
import { jobsOf, layOut } from "../property/naive-nodes.ts";
import { placeFaults } from "../property/naive-places.ts";
import { NOW } from "../support/build-node.ts";
import { judgeReasons } from "./judge-reasons.ts";
import { judgeRemedies } from "./judge-remedies.ts";
import { naiveFirstFit } from "./naive-fit.ts";
import { countLimits, exceeded, listOf } from "./naive-limits.ts";
import type { Mode } from "../support/modes.ts";
import type { Tried } from "./try-out.ts";

/** What is wrong with an answer, as sentences. No value is expected: each rule holds for whatever was asked. */
export function judge(tried: Tried, mode: Mode): readonly string[] {
  const limits = countLimits(tried.cluster, tried.world, tried.allocation);
  return [
    ...countFaults(tried),
    ...(mode.preference === "existing-first"
      ? findFaults(tried.world, tried.demands, tried.allocation, NOW)
      : boundFaults(tried)),
    ...exceeded(limits),
    ...deadNodes(tried),
    ...shortfall(tried, mode),
    ...tried.allocation.outcomes.flatMap((outcome) => judgeReasons(tried, outcome, limits)),
    ...judgeRemedies(tried),
  ];
}

/** Where scalelib's order counts: limits, and the slots of jobs that ask for no amount. */
function boundFaults({ world, demands, allocation }: Tried): readonly string[] {
  const sheet = layOut(world, demands, allocation);
  return [
    ...placeFaults(world, allocation, NOW),
    ...jobsOf(demands).flatMap((job) => crowdFaults(sheet, job)),
  ];
}

const idOf = ({ set, id }: DemandOutcome): string => `${set}/${id}`;

/** Placed + unmet = asked, with a reason for what is unmet; and the plan says what the allocator said. */
function countFaults({ decision, allocation }: Tried): readonly string[] {
  const planned = decision.plan.demands;
  const isSame = JSON.stringify(planned) === JSON.stringify(allocation.outcomes);
  return [
    ...(isSame ? [] : ["the plan says something else than the allocator"]),
    ...planned.flatMap((outcome) => {
      const { asked, placed, reasons, binding } = outcome;
      if (placed > asked || placed < 0) return [`${idOf(outcome)}: ${placed} placed of ${asked}`];
      if (placed === asked) return [];
      return [
        ...(reasons.length === 0 ? [`${idOf(outcome)}: ${placed} of ${asked} and no reason`] : []),
        ...(binding === undefined ? [`${idOf(outcome)}: ${placed} of ${asked} and no remedy`] : []),
      ];
    }),
  ];
}

/** States in which a node that is wanted has no VM that works (cyclecloud-wire.md A.5). */
const DEAD = new Set(["off", "terminated", "stopped", "failed", "unavailable", "error"]);

/** Nothing is put on a node that has failed, was shut down or is gone; a deallocated one is started first. */
function deadNodes({ cluster, allocation }: Tried): readonly string[] {
  return listOf(cluster.status["nodes"]).flatMap(({ NodeId: id, Status: status, TargetState: target }) => {
    const loads = allocation.loads.filter(({ nodeId }) => nodeId === id);
    const isStarted = allocation.starts.some((started) => started === id) && status === "Deallocated";
    const isAlive = target === "Started" && !DEAD.has(String(status).toLowerCase());
    return isAlive || isStarted || loads.length === 0
      ? []
      : [`${String(id)} is ${String(status)} and has jobs`];
  });
}

/** More demands than these get in each other's way: of another order of filling nodes some may have more. */
const COMPARABLE = 2;

/** A naive first fit under the same rules places no more; of many demands it gives the first no more. */
function shortfall({ world, demands, allocation }: Tried, mode: Mode): readonly string[] {
  const naive = naiveFirstFit(world, demands, mode);
  const rows = [...naive].slice(0, demands.length > COMPARABLE ? 1 : undefined).map(([by, least]) => {
    const ours = allocation.outcomes.find((outcome) => idOf(outcome) === by)?.placed ?? 0;
    return { by, ours, least };
  });
  const sum = (amounts: readonly number[]): number => amounts.reduce((total, one) => total + one, 0);
  if (sum(rows.map(({ ours }) => ours)) >= sum(rows.map(({ least }) => least))) return [];
  const detail = rows.map(({ by, ours, least }) => `${by} ${ours}, naively ${least}`).join("; ");
  return [`a naive first fit places more: ${detail}`];
}

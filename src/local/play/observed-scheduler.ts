import type { Simulator } from "../../simulator/engine.ts";
import { SchedulerModel } from "../workload/scheduler-model.ts";
import { AuditFeed } from "./audit-feed.ts";
import { auditedLimits } from "./cluster.ts";
import type { Doors } from "./doors.ts";
import type { Play } from "./play.ts";
import { AGENT_TIMES } from "./play.ts";
import { SchedulerAgent } from "./scheduler-agent.ts";

/** A scheduler that plays a workload on a simulated cluster, and the auditor that watches both. */
export interface ObservedScheduler {
  readonly feed: AuditFeed;
  readonly scheduler: SchedulerModel;
  readonly agent: SchedulerAgent;
  /** From now on events of the simulator have no effect on the scheduler and the auditor. */
  readonly stopListening: () => void;
}

/** Connects a new scheduler to the simulator. `onPush` is called with the time of each demand message. */
export function startScheduler(
  play: Play,
  simulator: Simulator,
  doors: Doors,
  startedAt: number,
  onPush: (at: number) => void = () => undefined,
): ObservedScheduler {
  const feed = new AuditFeed(auditedLimits(play.cluster));
  const scheduler = new SchedulerModel({
    maxSlots: play.cluster.nodes * play.cluster.coresPerNode,
    observer: { hostBusy: (event) => feed.busy(event), hostIdle: (event) => feed.idle(event) },
  });
  const options = { cluster: play.cluster.name, requestSet: "standard", ...AGENT_TIMES };
  const agent = new SchedulerAgent(
    scheduler,
    play.jobs,
    doors,
    options,
    startedAt,
    (at, slots, expiresAt) => {
      onPush(at);
      feed.auditor.demand({ at, slots, expiresAt });
    },
  );
  const stopListening = simulator.onEvent((event) => {
    if (feed.handle(event, scheduler)) agent.touch();
  });
  return { feed, scheduler, agent, stopListening };
}

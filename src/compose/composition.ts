import type { StopDesk } from "../app/autostop/answer-autostop.ts";
import { createStopDesk } from "../app/autostop/answer-autostop.ts";
import type { App, ProcessFacts } from "../app/process/lanes.ts";
import type { Background } from "../app/process/background.ts";
import { createBackground } from "../app/process/background.ts";
import type { HealthDesk } from "../app/describe/describe-health.ts";
import { createHealthDesk } from "../app/describe/describe-health.ts";
import { createLanes } from "../app/process/lanes.ts";
import type { Ports } from "../app/ports/ports.ts";
import type { DemandRecorder } from "../app/demand/record-demand.ts";
import { createRecorder } from "../app/demand/record-demand.ts";
import type { AutostopKeys } from "../config.ts";
import type { Mode } from "../domain/mode.ts";
import type { SenderTime } from "../wire/message/message-read.ts";
import { withoutAbsent } from "../domain/without-absent.ts";

/** All that the functions use: the app, and the desks that serve simultaneous callers of one process together. */
export interface Composition {
  readonly app: App;
  readonly recorder: DemandRecorder;
  readonly stopDesk: StopDesk;
  readonly healthDesk: HealthDesk;
  readonly background: Background;
  readonly autostopKeys?: AutostopKeys;
  readonly senderTime: SenderTime;
  /** The mode of a cluster whose configuration has none: AUTOSCALER_DEFAULT_MODE. */
  readonly defaultMode: Mode;
  /** True if App Service authentication is on: the platform guarantees the caller's name in a request. Absent: it is off. */
  readonly platformSignsIn?: true;
  /** Creates the table and the queues if they are not there. Once per process; safe to repeat. */
  readonly prepare: () => Promise<void>;
}

/** Builds the app and its desks on the ports. */
export function assemble(
  ports: Ports,
  keys: AutostopKeys | undefined,
  prepare: () => Promise<void>,
  senderTime: SenderTime = (at) => at,
  defaultMode: Mode = "act",
  facts: ProcessFacts = {},
): Composition {
  const app: App = { ports, lanes: createLanes(facts) };
  return {
    app,
    recorder: createRecorder(app, senderTime),
    stopDesk: createStopDesk(app),
    healthDesk: createHealthDesk(app),
    background: createBackground(ports.log),
    ...withoutAbsent({ autostopKeys: keys }),
    senderTime,
    defaultMode,
    prepare,
  };
}

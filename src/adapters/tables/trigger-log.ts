import type { TriggerLog } from "../../app/ports/ports.ts";
import type { Instant } from "../../domain/units.ts";
import { instant } from "../../domain/units.ts";
import { keyText, TRIGGERS_PARTITION } from "./keys.ts";
import type { Row, Table } from "./table.ts";

const TIMER_KEY = "timer";
const wakeKey = (cluster: string): string => `wake-${keyText(cluster)}`;

/** When the triggers last ran: one row for the timer, and one for the wake messages of each cluster. */
export function tableTriggerLog(table: Table): TriggerLog {
  return {
    noteTimer: (at) => table.put(TRIGGERS_PARTITION, TIMER_KEY, { at: BigInt(at) }),
    noteWake: (cluster, { id, at }) =>
      table.put(TRIGGERS_PARTITION, wakeKey(cluster), { id, at: BigInt(at) }),
    async timerAt() {
      const row = await table.read(TRIGGERS_PARTITION, TIMER_KEY);
      return row === undefined ? undefined : momentOf(row.values);
    },
    async lastWake(cluster) {
      const row = await table.read(TRIGGERS_PARTITION, wakeKey(cluster));
      return row === undefined ? undefined : { id: String(row.values["id"]), at: momentOf(row.values) };
    },
  };
}

function momentOf({ at }: Row): Instant {
  return instant(Number(at));
}

import type { Aside, WhyAside } from "../../domain/aside.ts";
import { NONE_ASIDE } from "../../domain/aside.ts";
import type { SetName } from "../../domain/ids.ts";
import type { Bytes } from "../../domain/memory-budget.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { SetEntry } from "../../domain/request-sets.ts";
import { entriesOf, memoryOfEntry, partsOf, setNamesOf } from "../../domain/request-sets.ts";
import { compareText } from "../../domain/text.ts";
import type { Instant } from "../../domain/units.ts";
import { leftOutBy } from "./processes.ts";

/** A live set: what a plan needs for it, and when its content came. */
interface Load {
  readonly set: SetName;
  readonly memory: Bytes;
  readonly contentAt: number;
}

/** Bytes of heap that a plan needs for all live sets. */
export function demandBytesOf(record: ClusterRecord): Bytes {
  return entriesOf(record).reduce((sum, entry) => (entry.live ? sum + memoryOfEntry(entry) : sum), 0);
}

/**
 * The sets that are not read, because the process has no memory for them, or because processes died of the record (docs/protocol.md, Memory). Those whose
 * content came last are left out first: what has been planned before is not new. A renewal is no content.
 */
export function setAside(record: ClusterRecord, memory: Bytes, now: Instant): Aside {
  const fewer = leftOutBy(record, now);
  if (fewer === 0 && demandBytesOf(record) <= memory) return NONE_ASIDE;
  const loads = loadsOf(record).toSorted((a, b) => a.contentAt - b.contentAt || compareText(a.set, b.set));
  const aside = new Map<SetName, WhyAside>();
  const kept = fewer === 0 ? loads : loads.slice(0, -fewer);
  for (const { set } of fewer === 0 ? [] : loads.slice(-fewer)) aside.set(set, "deaths");
  let left = memory;
  for (const load of kept) {
    if (load.memory > left) aside.set(load.set, "memory");
    else left -= load.memory;
  }
  return aside;
}

function loadsOf(record: ClusterRecord): readonly Load[] {
  return setNamesOf(record).flatMap((set): readonly Load[] => {
    const live = partsOf(record, set).filter((entry): entry is SetEntry => entry?.live === true);
    if (live.length === 0) return [];
    const memory = live.reduce((sum, entry) => sum + memoryOfEntry(entry), 0);
    const contentAt = Math.max(...live.map((entry) => entry.contentAt ?? entry.acceptedAt));
    return [{ set, memory, contentAt }];
  });
}

import type { ConfigDifference, ConfigurationChangeShown } from "../api/configuration.ts";
import { isFields } from "../json/fields.ts";

/** Maximum number of differences listed. */
export const MOST_DIFFERENCES = 100;
const LONGEST_VALUE = 200;

/** The differences of two documents in the order of their keys: the first {@link MOST_DIFFERENCES}, and the number of the others. */
export function compareConfigs(
  before: object,
  after: object,
): Pick<ConfigurationChangeShown, "differences" | "more"> {
  const all = [...differencesIn("", before, after)];
  return {
    differences: all.slice(0, MOST_DIFFERENCES),
    more: Math.max(0, all.length - MOST_DIFFERENCES),
  };
}

function* differencesIn(path: string, before: unknown, after: unknown): Generator<ConfigDifference> {
  if (isFields(before) && isFields(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      yield* differencesIn(path === "" ? key : `${path}.${key}`, before[key], after[key]);
    return;
  }
  const [was, is] = [JSON.stringify(before), JSON.stringify(after)];
  if (was === is) return;
  yield {
    path,
    before: before === undefined ? undefined : shortened(was),
    after: after === undefined ? undefined : shortened(is),
  };
}

function shortened(text: string): string {
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}...` : text;
}

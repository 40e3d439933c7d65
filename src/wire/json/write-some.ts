/** A level of what is being written: the members that are left, and what closes it. */
interface Level {
  readonly members: Iterator<readonly [string, unknown]>;
  readonly close: string;
  separator: "" | ",";
}

/** The beginning of a value's JSON text, `most` characters or a member more. Without recursion: no depth is too much. */
export function writeSome(value: unknown, most: number): string {
  const levels: Level[] = [];
  const begin = (one: unknown): string => {
    if (typeof one !== "object" || one === null) return JSON.stringify(one) ?? "null";
    const [open, close] = Array.isArray(one) ? ["[", "]"] : ["{", "}"];
    levels.push({ members: Object.entries(one).values(), close, separator: "" });
    return open;
  };
  let text = begin(value);
  for (let level = levels.at(-1); level !== undefined && text.length < most; level = levels.at(-1)) {
    const next = level.members.next();
    if (next.done === true) {
      text += level.close;
      levels.pop();
      continue;
    }
    const [key, member] = next.value;
    const label = level.close === "}" ? `${JSON.stringify(key)}:` : "";
    text += level.separator + label + begin(member);
    level.separator = ",";
  }
  return text;
}

/** A value as Python writes it. Messages of `never` may be anything, and are compared with the library's output. */
export function pythonText(value: unknown): string {
  return typeof value === "string" ? value : pythonLiteral(value);
}

function pythonLiteral(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`;
  if (typeof value === "number") return String(value);
  if (typeof value !== "object") throw new TypeError("JSON holds nothing else");
  const members = Object.entries(value).map(([key, member]) => `${quoted(key)}: ${pythonLiteral(member)}`);
  return `{${members.join(", ")}}`;
}

/** Single quotes, unless the text contains single quotes and no double quotes. */
function quoted(text: string): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  if (!text.includes("'")) return `'${escaped}'`;
  return text.includes('"') ? `'${escaped.replaceAll("'", "\\'")}'` : `"${escaped}"`;
}

/** Route templates of HTTP functions: literals, `{p}`, `{p:int}`, `{p?}`, `{*rest}` (platform.md section 3, "HTTP"). */

export type Route = {
  /** The values of the template's parameters. Missing optional ones are left out. Undefined if the path does not match. */
  match(path: string): Readonly<Record<string, string>> | undefined;
  /** The order of routes that match the same path, compared as text: the lowest is used. Literal segments are before parameters. */
  readonly precedence: string;
};

type Segment =
  | { readonly kind: "literal"; readonly text: string }
  | {
      readonly kind: "parameter";
      readonly name: string;
      readonly accepts: RegExp | undefined;
      readonly optional: boolean;
    }
  | { readonly kind: "rest"; readonly name: string };

const constraints: ReadonlyMap<string, RegExp> = new Map([
  ["int", /^-?\d+$/],
  ["long", /^-?\d+$/],
  ["bool", /^(true|false)$/i],
  ["alpha", /^[a-z]*$/i],
  ["guid", /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i],
]);

/** Parses a template such as `api/clusters/{cluster}/nodes/{index:int?}`. Throws if it uses a feature that the local host lacks. */
export function parseRoute(template: string): Route {
  const segments = template
    .split("/")
    .filter((text) => text !== "")
    .map((text) => parseSegment(text, template));
  const misplaced = segments.slice(0, -1).find((segment) => segment.kind === "rest" || isOptional(segment));
  if (misplaced !== undefined) throw new Error(`route "${template}": only the last segment may be optional`);
  return {
    precedence: segments.map(rank).join(""),
    match: (path) => matchSegments(segments, splitPath(path)),
  };
}

function parseSegment(text: string, template: string): Segment {
  if (!/[{}]/.test(text)) return { kind: "literal", text: text.toLowerCase() };
  const match = /^\{(\*{0,2})([A-Za-z_][\w-]*)(?::([a-z]+))?(\?)?\}$/.exec(text);
  const [, star, name, constraint, optional] = match ?? [];
  if (name === undefined) throw new Error(`route "${template}": "${text}" is not supported locally`);
  if (star !== "") return { kind: "rest", name };
  const accepts = constraint === undefined ? undefined : constraints.get(constraint);
  if (constraint !== undefined && accepts === undefined) {
    throw new Error(`route "${template}": constraint "${constraint}" is not supported locally`);
  }
  return { kind: "parameter", name, accepts, optional: optional !== undefined };
}

function matchSegments(
  segments: readonly Segment[],
  path: readonly string[],
): Readonly<Record<string, string>> | undefined {
  const values: Record<string, string> = {};
  for (const [i, segment] of segments.entries()) {
    const text = path[i];
    if (segment.kind === "rest") return { ...values, [segment.name]: path.slice(i).join("/") };
    if (text === undefined) return isOptional(segment) ? values : undefined;
    if (segment.kind === "literal") {
      if (text.toLowerCase() !== segment.text) return undefined;
    } else {
      if (segment.accepts?.test(text) === false) return undefined;
      values[segment.name] = text;
    }
  }
  return path.length > segments.length ? undefined : values;
}

/** Decoded segments of a URL's path. An encoded slash stays encoded, as in the platform's web server. */
function splitPath(path: string): readonly string[] {
  return path
    .split("/")
    .filter((text) => text !== "")
    .map((text) => {
      try {
        return decodeURIComponent(text.replace(/%2f/gi, "%252F"));
      } catch {
        return text;
      }
    });
}

const isOptional = (segment: Segment) => segment.kind === "parameter" && segment.optional;

function rank(segment: Segment): string {
  if (segment.kind === "literal") return "1";
  if (segment.kind === "rest") return "5";
  return segment.accepts === undefined ? "3" : "2";
}

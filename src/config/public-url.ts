import type { Settings } from "./storage.ts";
import type { Problem } from "../domain/demand.ts";
import { isPlainHttp } from "../domain/loopback.ts";
import type { ConfiguredCluster } from "./clusters.ts";

export const PUBLIC_URL = "AUTOSCALER_PUBLIC_URL";

const INSECURE = "AUTOSCALER_INSECURE";

function isInsecureAllowed(settings: Settings): boolean {
  return /^(true|1)$/i.test(settings[INSECURE] ?? "");
}

/** Descriptions of the data that the settings send over the network unprotected, for one cluster. Empty: none. Contains no secret. */
export function insecurities(
  { url, insecure }: Pick<ConfiguredCluster, "url" | "insecure">,
  publicUrl?: string,
): readonly string[] {
  const { origin } = new URL(url);
  return [
    ...(isPlainHttp(url)
      ? [`CycleCloud is called over plain http (${origin}): others on the network can read the password`]
      : insecure
        ? [
            `certificates of ${origin} are not checked ("insecure"): another server in its place gets the password`,
          ]
        : []),
    ...(publicUrl !== undefined && isPlainHttp(publicUrl)
      ? [
          `nodes call ${new URL(publicUrl).origin} over plain http: others on the network can read the stop URLs`,
        ]
      : []),
  ];
}

/** The URL that nodes call. Undefined: none is set, or there is a problem. */
export function readPublicUrl(settings: Settings, problems: Problem[]): string | undefined {
  const setting = settings[PUBLIC_URL];
  if (setting === undefined || setting === "") return undefined;
  const url = URL.canParse(setting) ? new URL(setting) : undefined;
  const plain =
    (url?.protocol === "http:" || url?.protocol === "https:") &&
    `${url.username}${url.password}${url.search}${url.hash}` === "";
  if (plain && isPlainHttp(setting) && !isInsecureAllowed(settings)) {
    problems.push({
      path: PUBLIC_URL,
      found: `plain http to ${url.host}`,
      expected: `an https address, as stop URLs hold a token; ${INSECURE}=true allows http`,
    });
    return undefined;
  }
  if (plain) return setting;
  problems.push({
    path: PUBLIC_URL,
    found: url === undefined ? "something else" : `an address of ${url.protocol}//${url.host}`,
    expected: "an http or https address without user, query and fragment",
  });
  return undefined;
}

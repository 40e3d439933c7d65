import { h } from "./dom.ts";

/** The key of this tab: in its session storage, which ends with the tab. Never in an address, and sent in a header only. */
const NAME = "autoscaler-key";

export const keptKey = (): string | undefined => sessionStorage.getItem(NAME) ?? undefined;

export function keepKey(key: string | undefined): void {
  if (key === undefined) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, key);
}

/** A form that asks for the key. */
export function signIn(enter: (key: string) => void): HTMLElement {
  const field = h("input", "");
  field.type = "password";
  field.required = true;
  field.autocomplete = "off";
  field.id = "key";
  const label = h("label", "", "Reader's key");
  label.htmlFor = field.id;
  const form = h("form", "sign-in", label, field, h("button", "", "Sign in"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim() !== "") enter(field.value.trim());
  });
  return h(
    "section",
    "",
    h("h1", "", "Sign in"),
    h(
      "p",
      "",
      "This page reads the app with a reader's key. It keeps the key in this tab, until you sign out or close it.",
    ),
    form,
    h("p", "quiet", "The command cyclecloud-autoscaler keys reader prints how a key is made."),
  );
}

type InAddress =
  /** Of the local host, which prints an address with a key that lives as long as the host. */
  | { readonly kind: "key"; readonly key: string; readonly why?: undefined }
  /** `why`: there was one, and it is not used. */
  | { readonly kind: "none"; readonly why?: string };

const LOCAL = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;

/** Looks for a key in the address, and takes it out of it: an address stands in histories, and before the # also in logs. */
export function keyInAddress(): InAddress {
  const inHash = new URLSearchParams(location.hash.slice(1)).get("key");
  const inQuery = location.search !== "";
  if (inHash === null && !inQuery) return { kind: "none" };
  history.replaceState(
    undefined,
    "",
    inHash === null ? location.pathname + location.hash : location.pathname,
  );
  if (inQuery)
    return {
      kind: "none",
      why: "The address had something behind a question mark. It was not used, and is taken away. If it was a key, it is in the logs of servers now: replace it.",
    };
  if (inHash !== null && inHash !== "" && LOCAL.test(location.hostname)) return { kind: "key", key: inHash };
  return {
    kind: "none",
    why: "The address had a key. It was not used, and is taken away: enter the key here, so that it is in no history.",
  };
}

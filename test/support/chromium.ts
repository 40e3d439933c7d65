import { existsSync } from "node:fs";
import type { Browser } from "playwright-core";
import { chromium } from "playwright-core";

/** Starts the Chromium of this machine. Rejects with what to install if there is none. */
export function launchChromium(): Promise<Browser> {
  const places = [
    process.env["CHROMIUM"],
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
  ];
  const executablePath = places.find((place) => place !== undefined && existsSync(place));
  if (executablePath === undefined)
    throw new Error("No Chromium: apt-get install chromium (Debian), or set CHROMIUM to its path.");
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

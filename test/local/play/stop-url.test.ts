import { expect, test } from "vitest";
import { readStopUrl } from "../../../src/local/play/stop-url.ts";

const url = "http://autoscaler/api/autostop/prod/k.0123";

test.each([
  {
    name: "where a node looks for it",
    configuration: { cyclecloud: { cluster: { autoscale: { stop_callback: url } } } },
    expected: url,
  },
  { name: "no configuration", configuration: {}, expected: undefined },
  {
    name: "only where older images look",
    configuration: { autoscale: { stop_callback: url } },
    expected: undefined,
  },
  {
    name: "a path that ends early",
    configuration: { cyclecloud: { cluster: null } },
    expected: undefined,
  },
  {
    name: "text on the way",
    configuration: { cyclecloud: { cluster: "autoscale" } },
    expected: undefined,
  },
  {
    name: "something that is not text",
    configuration: { cyclecloud: { cluster: { autoscale: { stop_callback: [url] } } } },
    expected: undefined,
  },
])("$name", ({ configuration, expected }) => {
  expect(readStopUrl(configuration)).toBe(expected);
});

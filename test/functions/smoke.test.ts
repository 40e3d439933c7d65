import { expect, test } from "vitest";
import { startLocalApp } from "../support/local-app.ts";
test("x", async () => {
  const t0 = Date.now();
  const app = await startLocalApp({ clusters: ["prod", "two words"], speed: 60 });
  console.log("start", Date.now() - t0);
  console.log(JSON.stringify(await app.callBare("GET", "/api/health")));
  console.log(
    JSON.stringify(
      await app.call("PUT", "/api/clusters/prod/request-sets/standard", {
        version: 1,
        nodearrays: [{ Name: "execute", TargetCount: 3 }],
        jobs: [
          { name: "a", iterations: 2, constraints: { ncpus: 64 } },
          { name: "bad", iterations: -1 },
        ],
      }),
    ),
  );
  await new Promise((r) => setTimeout(r, 2500));
  console.log(JSON.stringify((await app.call("GET", "/api/clusters/prod")).body, null, 1));
  console.log(JSON.stringify((await app.call("GET", "/api/clusters/two%20words")).body));
  console.log(JSON.stringify((await app.call("GET", "/api/clusters")).body));
  console.log(JSON.stringify((await app.call("GET", "/api/clusters/prod/history")).body));
  console.log(JSON.stringify((await app.call("GET", "/api/clusters/prod/request-sets/standard")).body));
  console.log(app.lines.slice(0, 20).join("\n"));
  await app.close();
  expect(1).toBe(1);
});

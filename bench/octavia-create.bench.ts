/** Load balancers created by the Octavia API, one request after the other and 64 at a time, beside Debian's octavia-api. */
import { type Ask, compare, type Side, withOctaviaBeside } from './bed/octavia-beside.ts'
import { benchOptions, isWanted, printRow } from './row.ts'

const CASES = [
  { connections: 1, goal: 20 },
  { connections: 64, goal: 50 },
] as const
const options = benchOptions()

await withOctaviaBeside(async ({ lab, spout, octavia }) => {
  const ask = async (side: Side, connections: number): Promise<Ask> => {
    const { headers, loadBalancer: body } = await side.newProject()
    return { side, path: '/loadbalancers', connections, method: 'POST', headers, body }
  }
  for (const { connections, goal } of CASES) {
    const name = `octavia-create-${connections}`
    if (!isWanted(name, options)) continue
    const asks = { ours: await ask(spout, connections), peer: await ask(octavia, connections) }
    const { ours, peer, ratio, detail } = await compare(lab, asks, options)
    printRow(
      {
        ...{ name, ours, peer, ratio, detail },
        comparedWith: "Debian's octavia-api 11.0.0",
        goal: `>= ${goal} times as many load balancers a second, ${connections} at a time, 0 failed`,
        pass: ratio >= goal && ours.failed === 0,
      },
      options,
    )
  }
})

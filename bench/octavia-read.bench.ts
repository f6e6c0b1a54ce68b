/** A load balancer read by the Octavia API, and lists of 100 and 400 of them, beside Debian's octavia-api. */
import { askOctavia } from './bed/octavia.ts'
import { compare, type Side, withOctaviaBeside } from './bed/octavia-beside.ts'
import { benchOptions, isWanted, printRow } from './row.ts'

/** As many requests at a time as octavia-api has processes on two cores. */
const CONNECTIONS = 4
const CASES = [
  { name: 'octavia-get', existing: 1, goal: 100 },
  { name: 'octavia-list-100', existing: 100, goal: 50 },
  { name: 'octavia-list-400', existing: 400, goal: 50 },
] as const
const options = benchOptions()

await withOctaviaBeside(async ({ lab, spout, octavia }) => {
  const ask = async (side: Side, name: string, existing: number) => {
    const { id: projectId, headers, loadBalancer } = await side.newProject()
    const access = { base: side.base, headers }
    let id = ''
    for (let n = 0; n < existing; n++) {
      const answer = await askOctavia<{ loadbalancer: { id: string } }>(access, 'POST', '/loadbalancers', loadBalancer)
      id = answer.loadbalancer.id
    }
    // Without tokens everybody is an administrator of octavia-api, whose lists are of all projects.
    const list = `/loadbalancers?project_id=${projectId}`
    const { loadbalancers } = await askOctavia<{ loadbalancers: unknown[] }>(access, 'GET', list)
    if (loadbalancers.length !== existing)
      throw new Error(`${side.name} lists ${loadbalancers.length} load balancers of ${existing}`)
    const path = name === 'octavia-get' ? `/loadbalancers/${id}` : list
    return { side, path, connections: CONNECTIONS, headers }
  }
  for (const { name, existing, goal } of CASES) {
    if (!isWanted(name, options)) continue
    const asks = { ours: await ask(spout, name, existing), peer: await ask(octavia, name, existing) }
    const { ours, peer, ratio, detail } = await compare(lab, asks, options)
    printRow(
      {
        ...{ name, ours, peer, ratio, detail },
        comparedWith: "Debian's octavia-api 11.0.0",
        goal: `>= ${goal} times as many requests a second, ${CONNECTIONS} at a time, 0 failed`,
        pass: ratio >= goal && ours.failed === 0,
      },
      options,
    )
  }
})

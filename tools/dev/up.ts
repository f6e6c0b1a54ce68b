import { parseArgs } from 'node:util'
import { Lab, NODES, type SystemAccess, startAgent, startControlPlane } from '@spout/testkit'
import { readState, writeState } from './state.ts'
import { seedDemo } from './story/seed.ts'
import { tellStory } from './story/story.ts'
import { Teller } from './story/teller.ts'
import { UsageError, type Verb } from './verb.ts'

const DEFAULT_PORT = 9130

/** `./dev up [--bare] [--set KEY=VALUE] [--json]` */
export const up: Verb = {
  name: 'up',
  usage: '[--bare] [--set KEY=VALUE]… [--json]',
  summary: 'starts Spout in the lab and shows the main job; --bare starts the control plane alone',
  details:
    '--set hands a setting to the control plane, such as --set log.level=debug. What is up stays up; a second up changes nothing.',
  async run(args) {
    const options = readOptions(args)
    const teller = new Teller({ quiet: options.json })
    const before = readState()
    const standing = before && Lab.open(before.labId)
    if (before && standing && before.bare !== options.bare)
      throw new UsageError(
        `${before.bare ? 'the control plane alone' : 'the whole system'} is up already: run ./dev down first`,
      )
    const access =
      before && standing ? await resume(standing, before.access, options, teller) : await begin(options, teller)
    const state = readState()
    const lab = state && Lab.open(state.labId)
    if (!lab) throw new Error('the lab is gone')
    const story = options.bare ? null : await tellStory(lab, access, teller)
    if (options.json)
      process.stdout.write(
        `${JSON.stringify({ endpoint: access.endpoint, bare: options.bare, seconds: teller.seconds, story })}\n`,
      )
    else if (options.bare)
      process.stdout.write(
        `\nThe control plane is up at ${access.endpoint}. Next: eval "$(./dev env --admin)"; ./dev spout project list; ./dev down\n`,
      )
    return story?.ok === false ? 1 : 0
  },
}

interface UpOptions {
  readonly bare: boolean
  readonly json: boolean
  readonly set: readonly string[]
}

function readOptions(args: readonly string[]): UpOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        bare: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        set: { type: 'string', multiple: true, default: [] },
      },
    })
    return values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

async function begin({ bare, set }: UpOptions, teller: Teller): Promise<SystemAccess> {
  const lab = await Lab.create({ persistent: true })
  try {
    teller.event(
      `lab ${lab.id}: a fabric, a router, a client, two load-balancer nodes, two tenants with two members each`,
    )
    const access = await startControlPlane(lab, { port: DEFAULT_PORT, set })
    writeState({ labId: lab.id, bare, access })
    teller.event(`control plane at ${access.endpoint}`)
    if (bare) return access
    const seeded = await seedDemo(lab, access, teller)
    writeState({ labId: lab.id, bare, access: seeded })
    return seeded
  } catch (error) {
    process.stderr.write(`The logs are kept in ${lab.directory}.\n`)
    await lab.destroy({ keepLogs: true })
    throw error
  }
}

/** Starts again what ended meanwhile. */
async function resume(lab: Lab, access: SystemAccess, { bare, set }: UpOptions, teller: Teller): Promise<SystemAccess> {
  const alive = lab.process('control-plane') !== null
  const current = alive
    ? access
    : { ...(await startControlPlane(lab, { port: DEFAULT_PORT, set })), projects: access.projects }
  if (!bare) for (const node of NODES) if (lab.process(`agent-${node}`) === null) await startAgent(lab, current, node)
  teller.event(`lab ${lab.id} and the control plane at ${current.endpoint} are up already`)
  return current
}

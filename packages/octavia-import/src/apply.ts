import { ApiRefusal, type Attributes, type NeutronClient, type OctaviaClient } from '@spout/octavia-client'
import type { Request, Step } from './step.ts'

/** The result of a step after it was applied: an object that was to be created is now `created` or `refused`. */
export type Outcome = Omit<Step, 'result'> & { readonly result: Step['result'] | 'created' }

export interface ApplyOptions {
  readonly octavia: Pick<OctaviaClient, 'create' | 'update'>
  readonly neutron: Pick<NeutronClient, 'create'>
  /** Called with each outcome as soon as it is known. */
  readonly onOutcome: (outcome: Outcome) => void
}

/**
 * Creates the objects of the plan, one after the other. A refusal stops only the objects that need the refused one. No
 * progress is stored: after an interruption a new plan contains the rest.
 */
export async function apply(steps: readonly Step[], options: ApplyOptions): Promise<readonly Outcome[]> {
  const lost = new Map<string, string>()
  const ports = new Map<string, unknown>()
  const outcomes: Outcome[] = []
  for (const step of steps) {
    const outcome = await applyStep(step, lost, ports, options)
    if (outcome.result === 'refused') lost.set(step.id, step.title)
    outcomes.push(outcome)
    options.onOutcome(outcome)
  }
  return outcomes
}

async function applyStep(
  step: Step,
  lost: ReadonlyMap<string, string>,
  ports: Map<string, unknown>,
  options: ApplyOptions,
): Promise<Outcome> {
  if (step.result !== 'create') return step
  const refused = (text: string): Outcome => ({ ...step, result: 'refused', notes: [{ field: 'refused', text }] })
  const missing = step.needs.find((id) => lost.has(id))
  if (missing !== undefined) return refused(`${lost.get(missing)} is not taken over`)
  try {
    if (step.request !== null) {
      const created = await write(step.request, ports, options)
      if (step.kind === 'loadbalancer') ports.set(step.id, created['vip_port_id'])
    }
    return { ...step, result: 'created' }
  } catch (error) {
    if (error instanceof ApiRefusal) return refused(error.message)
    throw error
  }
}

/** @param ports of the load balancers that were created, by their ids */
function write(
  { api, method, path, root, body, portOf }: Request,
  ports: ReadonlyMap<string, unknown>,
  { octavia, neutron }: ApplyOptions,
): Promise<Attributes> {
  if (method === 'update') return octavia.update(path, root, body)
  if (api === undefined) return octavia.create(path, root, body)
  return neutron.create(path, root, portOf === undefined ? body : { ...body, port_id: ports.get(portOf) })
}

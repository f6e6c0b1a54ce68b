import type { OctaviaClient } from '@spout/octavia-client'
import { OctaviaRefusal } from '@spout/octavia-client'
import type { Step } from './plan.ts'

/** What became of a step: of those that were to be created, some are now refused. */
export type Outcome = Omit<Step, 'verdict'> & { readonly verdict: Step['verdict'] | 'created' }

export interface ApplyOptions {
  readonly client: Pick<OctaviaClient, 'create'>
  /** Called with each outcome as soon as it is known. */
  readonly onOutcome: (outcome: Outcome) => void
}

/**
 * Creates what the plan says, one object after the other. A refusal stops only what needs the refused object. Nothing is
 * kept about what was done: after an interruption a new plan contains the rest.
 */
export async function apply(steps: readonly Step[], { client, onOutcome }: ApplyOptions): Promise<readonly Outcome[]> {
  const lost = new Map<string, string>()
  const outcomes: Outcome[] = []
  for (const step of steps) {
    const outcome = await done(step, lost, client)
    if (outcome.verdict === 'refused') lost.set(step.id, step.title)
    outcomes.push(outcome)
    onOutcome(outcome)
  }
  return outcomes
}

async function done(
  step: Step,
  lost: ReadonlyMap<string, string>,
  client: Pick<OctaviaClient, 'create'>,
): Promise<Outcome> {
  if (step.verdict !== 'create') return step
  const refused = (text: string): Outcome => ({ ...step, verdict: 'refused', notes: [{ field: 'refused', text }] })
  const missing = step.needs.find((id) => lost.has(id))
  if (missing !== undefined) return refused(`${lost.get(missing)} is not taken over`)
  try {
    if (step.request !== null) await client.create(step.request.path, step.request.root, step.request.body)
    return { ...step, verdict: 'created' }
  } catch (error) {
    if (error instanceof OctaviaRefusal) return refused(error.message)
    throw error
  }
}

import { ensureKubernetes } from '@spout/testkit'
import { describeDuration, withProgress } from './progress.ts'

const SAY_EVERY_MS = 20_000

/** Builds Kubernetes if it is missing; says what, why and how long it takes, and shows progress. */
export async function buildKubernetes(): Promise<void> {
  // It goes to standard error, also in JSON mode, because it is not part of the story.
  const say = (line: string) => void process.stderr.write(`${line}\n`)
  await withProgress(ensureKubernetes({ say }), {
    everyMs: SAY_EVERY_MS,
    say: (seconds) => say(`  still building, ${describeDuration(seconds)} by now`),
  })
}

import { run } from '@spout/testkit'

/** The rule applies to commits after this one; older ones have subjects of up to 200 characters. */
const SINCE = 'cdc90fc5359a39ec9b775d63095b6425a4f82c4e'
/** Git's own advice is 50 (`git help commit`); 72 is what `git log` shows in 80 columns. */
const MOST_CHARACTERS = 72

/** Subjects of this branch that are too long; none in a checkout without that history, such as a shallow one. */
export async function longSubjects(root: string): Promise<readonly string[]> {
  const git = (...args: readonly string[]) => run(['git', '-C', root, ...args])
  if ((await git('merge-base', '--is-ancestor', SINCE, 'HEAD')).code !== 0) return []
  return tooLong((await git('log', '--no-merges', '--format=%s', `${SINCE}..HEAD`)).stdout)
}

/** @param log one subject per line */
export const tooLong = (log: string): readonly string[] =>
  log.split('\n').filter((subject) => [...subject].length > MOST_CHARACTERS)

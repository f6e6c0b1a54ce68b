import { buildProgram } from '../program.ts'

/**
 * What the command prints, run in this process, without a control plane and a token.
 * @throws Error: what the command ends with, also when it was called wrongly
 */
export async function printed(...words: readonly string[]): Promise<string> {
  let text = ''
  const write = (more: string) => {
    text += more
  }
  const program = buildProgram({ env: {}, colour: false, write, signal: new AbortController().signal })
  for (const command of [program, ...program.commands, ...program.commands.flatMap(({ commands }) => commands)])
    command.exitOverride().configureOutput({ writeErr: () => {} })
  await program.parseAsync([...words], { from: 'user' })
  return text
}

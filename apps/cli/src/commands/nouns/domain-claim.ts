import { call } from '@spout/client/api'
import type { Command } from 'commander'
import { findByName, scopedTo } from '../../lookup.ts'
import { ownedBy } from '../../nouns/collection.ts'
import { domain } from '../../resources/domains.ts'
import { at, type Row } from '../../resources/resource.ts'
import { type CommandContext, sessionOf } from '../connections/context.ts'

interface Options {
  readonly project?: string
}

/** The record that proves a claim, as a line of a zone file. */
const recordOf = (claim: Row): string =>
  `${String(at(claim, 'record.name'))}. 300 IN TXT "${String(at(claim, 'record.value'))}"`

/** The state of a claim, for people. */
const outcomeOf = (claim: Row): string =>
  `${String(claim.domain)} is ${String(claim.state)} (${String(claim.reason)}): ${String(claim.message)}`

/** Adds `spout domain claim|check DOMAIN`. */
export function addDomainClaim(program: Command, context: CommandContext): void {
  const noun = program.commands.find((command) => command.name() === domain.noun)
  if (noun === undefined) throw new Error('addDomainClaim needs the domain commands')
  noun
    .command('claim')
    .description('claims a domain for the project, and prints the record that proves it')
    .argument('<domain>', "such as shop.example, or '*.shop.example' for all names below it")
    .option('--description <text>', 'free text')
    .option('--project <project>', 'owner (administrators)')
    .action(async (name: string, { project, ...rest }: Options) => {
      const session = sessionOf(context)
      const body = { domain: name, ...rest, ...(await ownedBy(session, project)) }
      const claim = await call<Row>(session, 'POST', domain.path, body)
      context.write(
        `Publish this record, and keep it:\n\n  ${recordOf(claim)}\n\n'spout domain check ${String(claim.domain)}' looks for it now.\n`,
      )
    })
  noun
    .command('check')
    .description('looks for the record of a claimed domain now')
    .argument('<domain>')
    .option('--project <project>', 'the project of the claim, if several claim it')
    .action(async (name: string, { project }: Options) => {
      const session = await scopedTo(sessionOf(context), project)
      const { id } = await findByName(session, domain.path, domain.title, name)
      const claim = await call<Row>(session, 'POST', `${domain.path}/${String(id)}/check`)
      context.write(`${outcomeOf(claim)}\n`)
    })
}

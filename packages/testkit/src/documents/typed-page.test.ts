import { expect, test } from 'vitest'
import { documentedCommands, TypedPage } from './typed-page.ts'

const PAGE = 'certificates.md'
const page = (code = 0) => new TypedPage(PAGE, async (command) => ({ code, stdout: command, stderr: code ? 'no' : '' }))

test('a page has commands, each with its heading and what it prints', () => {
  expect(documentedCommands(PAGE)[0]).toEqual({
    heading: 'Certificates',
    command: 'spout certificate create web --chain web.crt --key web.key',
    printed: [],
  })
  const [claim] = documentedCommands('dns.md').filter(({ command }) => command.startsWith('spout domain claim'))
  expect(claim?.printed[0]).toBe('Publish this record, and keep it:')
})

test('a command goes on within quotes', () => {
  const command = documentedCommands('native-api.md').find((one) => one.command.startsWith('curl -si'))
  const body = command?.command.slice(command.command.indexOf('{'), -1)
  expect(JSON.parse(body ?? '')).toMatchObject({ name: 'one-call' })
  expect(command?.printed[0]).toBe('HTTP/1.1 201 Created')
})

test('a block that begins as root has commands of root; elsewhere such a line is printed', () => {
  const commandsOf = (page: string, heading: string) =>
    documentedCommands(page)
      .filter((one) => one.heading === heading)
      .map(({ command }) => command)
  expect(commandsOf('networks.md', 'Direct server return')).toContain('ip address add 198.51.100.16/32 dev lo')
  const metrics = documentedCommands('octavia.md').find(({ command }) => command.includes('/metrics'))
  expect(metrics?.printed[0]).toBe('# HELP octavia_listener_http_responses_total Total number of HTTP responses.')
})

test('commands are typed in their order, and what was neither typed nor left out is told', async () => {
  const typed = page()
  expect(await typed.type('spout certificate create')).toEqual({
    said: 'spout certificate create web --chain web.crt --key web.key',
    shown: '',
  })
  expect((await typed.type('spout certificate create')).said).toContain(' inner-ca ')
  typed.leaveOut('spout', 'a reason')
  expect(typed.left).toEqual(['htpasswd -B -c staff joe'])
})

test('a command that fails, one that the page lacks, and one left out that it lacks are errors', async () => {
  await expect(page(3).type('spout')).rejects.toThrow(`docs/${PAGE}: spout certificate create web`)
  await expect(page().type('docker')).rejects.toThrow(`docs/${PAGE}: no command left begins with docker`)
  expect(() => page().leaveOut('docker', 'no registry')).toThrow('no registry')
})

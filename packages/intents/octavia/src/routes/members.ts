import type { LoadBalancer } from '@spout/model'
import { inTurns, type Pieces } from '@spout/runtime'
import { blankMember, memberResource } from '../resources/member.ts'
import { addMember, changeMember, type MemberSet, removeMember, replaceMembers } from '../to-model/edit-members.ts'
import { readBody, rootOf } from '../to-model/to-model.ts'
import { invalidInput } from '../wire/fault.ts'
import { printObject, readObject } from '../wire/field.ts'
import { pythonText } from '../wire/python-text.ts'
import { boolean } from '../wire/wire-type.ts'
import { memberReadings } from '../write-back/write-back.ts'
import { findChild, findMember, justWritten, snapshot } from './find.ts'
import { parseListQuery, printPage, refuseTwice } from './list-query.ts'
import { type Call, GRAPH_BODY_LIMIT_BYTES, type Route } from './route.ts'

const { fields, plural, root } = memberResource

const print = (call: Call, lb: LoadBalancer, id: string, only?: ReadonlySet<string>) => ({
  [root]: printObject(fields, justWritten(memberReadings(snapshot(call, lb), call.id), id), only),
})

function list(call: Call) {
  const { lb } = findChild(call, 'pool', call.id, 'reader')
  return printPage(plural, fields, memberReadings(snapshot(call, lb), call.id), parseListQuery(call.query), call.url)
}

const show = (call: Call) => print(call, findMember(call, 'reader').lb, call.childId, parseListQuery(call.query).fields)

async function create(call: Call) {
  const { lb: found } = findChild(call, 'pool', call.id, 'member')
  const member = readBody(memberResource, 'create', call.body, call.stamp)(blankMember(call.stamp))
  const lb = await call.context.admission.changeMembers(found.id, addMember(call.id, member))
  return print(call, lb, member.model.id)
}

async function update(call: Call) {
  const { lb: found } = findMember(call, 'member')
  const edit = readBody(memberResource, 'update', call.body, call.stamp)
  const change = changeMember(call.id, call.childId, edit, call.stamp.now)
  return print(call, await call.context.admission.changeMembers(found.id, change), call.childId)
}

async function remove(call: Call) {
  const { lb } = findMember(call, 'member')
  await call.context.admission.changeMembers(lb.id, removeMember(call.id, call.childId))
}

/** Replaces all members in one write. If nothing changes, nothing is written. */
async function replace(call: Call) {
  const { lb } = findChild(call, 'pool', call.id, 'member')
  const set = await inTurns(readingMemberSet(call), call.turn)
  const change = replaceMembers(call.id, set, call.stamp)
  await call.context.admission.changeMembers(lb.id, change, call.turn ?? undefined)
}

function* readingMemberSet({ body, query, stamp }: Call): Pieces<MemberSet> {
  refuseTwice(query, ['additive_only'])
  const items = rootOf(plural, 'members_', body)
  if (!Array.isArray(items)) throw invalidInput(plural, pythonText(items), 'Value not a valid list.')
  const at = { path: `members_.${plural}`, stamp }
  const members: MemberSet['members'][number][] = []
  for (const item of items as readonly unknown[]) {
    yield
    members.push(readObject(fields, 'create', item, at))
  }
  return {
    members,
    additiveOnly: boolean.queryText?.(query.get('additive_only') ?? 'false') === 'true',
  }
}

export const memberRoutes: readonly Route[] = [
  { method: 'GET', path: '/pools/:id/members', status: 200, handle: list },
  { method: 'POST', path: '/pools/:id/members', status: 201, handle: create },
  {
    method: 'PUT',
    path: '/pools/:id/members',
    status: 202,
    handle: replace,
    bodyLimitBytes: GRAPH_BODY_LIMIT_BYTES,
  },
  { method: 'GET', path: '/pools/:id/members/:childId', status: 200, handle: show },
  { method: 'PUT', path: '/pools/:id/members/:childId', status: 200, handle: update },
  { method: 'DELETE', path: '/pools/:id/members/:childId', status: 204, handle: remove },
]

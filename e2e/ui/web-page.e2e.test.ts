import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { canary } from './canary.ts'
import { certificates } from './certificates.ts'
import { clusterObjects } from './cluster-objects.ts'
import { completion } from './completion.ts'
import { emptyStates } from './empty-states.ts'
import { firstLook } from './first-look.ts'
import { hostileText } from './hostile-text.ts'
import { interruptions } from './interruptions.ts'
import { keyboard } from './keyboard.ts'
import { loggingIn } from './logging-in.ts'
import { manyMembers } from './many-members.ts'
import { oneLoadBalancer } from './one-load-balancer.ts'
import { openIdConnect } from './openid-connect.ts'
import { operators } from './operators.ts'
import { ownProject } from './own-project.ts'
import { pictures } from './pictures.ts'
import { previewing } from './previewing.ts'
import { readable } from './readable.ts'
import { thereAndBack } from './there-and-back.ts'
import { twoTenants } from './two-tenants.ts'
import { World } from './world.ts'

/** The web page in a real browser, against the whole product. One lab for all stories. */

let world: World
const here = () => world

beforeAll(async () => {
  world = await World.start()
})
afterAll(() => world?.[Symbol.asyncDispose]())
/** In every page of every story: errors of scripts, refusals by the page's own policy, requests to other hosts. */
afterEach(() => expect(world.browser.takeFaults()).toEqual([]))

describe('logging in', () => loggingIn(here))
describe('OpenID Connect', () => openIdConnect(here))
describe('the first look', () => firstLook(here))
describe('keyboard alone', () => keyboard(here))
describe('one load balancer', () => oneLoadBalancer(here))
describe('a canary', () => canary(here))
describe('completion', () => completion(here))
describe('previews', () => previewing(here))
describe('two tenants', () => twoTenants(here))
describe('objects of a Kubernetes cluster', () => clusterObjects(here))
describe('there and back', () => thereAndBack(here))
describe('interruptions', () => interruptions(here))
describe('hostile text', () => hostileText(here))
describe('many members', () => manyMembers(here))
describe('operators', () => operators(here))
describe('a project', () => ownProject(here))
describe('a certificate', () => certificates(here))
describe('empty states', () => emptyStates(here))
describe('pictures', () => pictures(here))
describe('readable', () => readable(here))

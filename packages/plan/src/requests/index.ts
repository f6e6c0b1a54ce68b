/** What happens to one request, and why. For people who ask: pure, and small enough for a browser. */
export { conditionsText, conditionText, subjectText } from './condition-text.ts'
export type { ListenerDecision, ListenerVerdict } from './explain-listeners.ts'
export type { RouteDecision } from './explain-request.ts'
export type { AskedRequest } from './request-conditions.ts'
export {
  type RequestWay,
  requestWay,
  type WayEnd,
  type WayListener,
  type WayShare,
  type WayStep,
} from './request-way.ts'

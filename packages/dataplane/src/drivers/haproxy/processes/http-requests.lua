-- Does with requests what HAProxy's rules could only do with a tenant's text in the configuration:
--
-- - It tests them for what cannot be the key of a map: parts of texts, regular expressions, headers, cookies, queries,
--   sources, clients' certificates. The rows of the map `tests` hold the tests; `test-rows.ts` writes them.
-- - It changes requests and responses. The rows of the map `filters` hold the steps; `filter-text.ts` writes them.
-- - It reads the cookies of applications, by which sessions begin and end.
--
-- Rows have a hash of their content as their name, so a parsed row never becomes outdated. Debian's HAProxy gives
-- `lua-load` no arguments, so the maps' paths are in the environment.
local rows = Map.new(os.getenv("SPOUT_TESTS_MAP"), Map._str)
local hosts = Map.new(os.getenv("SPOUT_HOSTS_MAP"), Map._str)

local byte, sub, find, gmatch = string.byte, string.sub, string.find, string.gmatch

local function from_hex(text)
  return (text:gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end))
end

-- Parsed rows by key of the map. All are forgotten when there are more than can be in use.
local MOST_KEPT = 20000
local kept, kept_count = {}, 0
local function read_once(key, read)
  local known = kept[key]
  if known == nil then
    if kept_count >= MOST_KEPT then kept, kept_count = {}, 0 end
    known = read(key)
    kept[key], kept_count = known, kept_count + 1
  end
  return known
end

-- An automaton of the model. Its table `next` has two bytes for each state and class of bytes: the next state.
local function read_automaton(key)
  local parts, piece = {}, 0
  while true do
    local text = rows:lookup(key .. "/" .. piece)
    if text == nil then break end
    parts[#parts + 1] = from_hex(text)
    piece = piece + 1
  end
  return {
    width = tonumber(rows:lookup(key .. "/width")),
    classes = from_hex(rows:lookup(key .. "/classes")),
    ends = rows:lookup(key .. "/ends"),
    next = table.concat(parts),
  }
end

local function matches(automaton, text)
  local classes, width, next_states = automaton.classes, automaton.width, automaton.next
  local state = 2
  for at = 1, #text do
    local from = (state * width + byte(classes, byte(text, at) + 1)) * 2 + 1
    local high, low = byte(next_states, from, from + 1)
    state = high * 256 + low
    if state <= 1 then return state == 1 end
  end
  return byte(automaton.ends, state + 1) == 49
end

local compares = {
  exact = function(text, value) return text == value end,
  prefix = function(text, value) return sub(text, 1, #value) == value end,
  ["ends-with"] = function(text, value) return #text >= #value and sub(text, #text - #value + 1) == value end,
  contains = function(text, value) return find(text, value, 1, true) ~= nil end,
  regex = function(text, value) return matches(value, text) end,
  within = function(address, value) return core.match_addr(address, value) end,
}

-- These call `fits` with the texts of a request, one after the other, until it accepts one.
local function any_line(txn, name, fits)
  for at = 1, txn.f:req_fhdr_cnt(name) do
    if fits(txn.f:req_fhdr(name, at)) then return true end
  end
  return false
end
local function any_element(line, separator, fits)
  for element in gmatch(line, "[^" .. separator .. "]*") do
    if fits(element:match("^[ \t]*(.-)[ \t]*$")) then return true end
  end
  return false
end
local function any_pair(line, separator, name, fits)
  return any_element(line, separator, function(pair)
    local equals = find(pair, "=", 1, true)
    local key = equals == nil and pair or sub(pair, 1, equals - 1)
    return key == name and fits(equals == nil and "" or sub(pair, equals + 1))
  end)
end

local subjects = {
  host = function(txn, _, fits) return fits(txn:get_var("txn.host") or "") end,
  path = function(txn, _, fits)
    local path = txn.f:path()
    return path ~= nil and path ~= "" and fits(path)
  end,
  method = function(txn, _, fits) return fits(txn.f:method()) end,
  source = function(txn, _, fits) return fits(core.parse_addr(txn.f:src())) end,
  header = function(txn, name, fits)
    return any_line(txn, name, function(line)
      return fits(line) or (find(line, ",", 1, true) ~= nil and any_element(line, ",", fits))
    end)
  end,
  cookie = function(txn, name, fits)
    return any_line(txn, "cookie", function(line) return any_pair(line, ";", name, fits) end)
  end,
  query = function(txn, name, fits)
    local query = txn.f:query()
    return query ~= nil and any_element(query, "&", function(pair)
      return any_pair(pair, "&", name, fits)
    end)
  end,
}

-- A certificate that is not valid counts as none, even where the listener accepts it: anybody can make one with any
-- name.
local function has_certificate(txn)
  return txn.sf:ssl_c_used() == "1" and txn.sf:ssl_c_verify() == "0"
end
subjects["client-certificate"] = function(txn, _, fits)
  return fits(has_certificate(txn) and "present" or "absent")
end
subjects["client-name"] = function(txn, part, fits)
  local text = has_certificate(txn) and txn.f:ssl_c_s_dn(part) or nil
  return text ~= nil and text ~= "" and fits(text)
end

local readers = {
  regex = function(text, frontend) return read_once(frontend .. text, read_automaton) end,
  within = function(text) return core.parse_addr(from_hex(text)) end,
}

local function read_test(key)
  local frontend = key:match("^[^/]*/")
  local inverted, on, compare, name, values = rows:lookup(key):match("^(%d):(.-):(.-):(%x*):(.*)$")
  local read = readers[compare] or from_hex
  local test = { inverted = inverted == "1", subject = subjects[on], name = from_hex(name) }
  local wanted, fits = {}, compares[compare]
  for value in gmatch(values, "%.([^.]*)") do wanted[#wanted + 1] = read(value, frontend) end
  test.fits = function(text)
    for at = 1, #wanted do
      if fits(text, wanted[at]) then return true end
    end
    return false
  end
  return test
end

local function read_choice(key)
  local frontend = key:match("^[^/]*/")
  local choice = {}
  while true do
    local names = rows:lookup(key .. "/" .. #choice)
    if names == nil then return choice end
    local all = {}
    for name in gmatch(names, "[^:]+") do all[#all + 1] = read_once(frontend .. name, read_test) end
    choice[#choice + 1] = all
  end
end

-- The number, from 0, of the first route of choice `txn.choice` that matches the request; `any` if none does.
core.register_fetches("route_that_takes", function(txn)
  local choice = read_once(txn.f:fe_name() .. "/" .. txn:get_var("txn.choice"), read_choice)
  for number = 1, #choice do
    local all, holds = choice[number], true
    for at = 1, #all do
      local test = all[at]
      if test.subject(txn, test.name, test.fits) == test.inverted then
        holds = false
        break
      end
    end
    if holds then return tostring(number - 1) end
  end
  return "any"
end)

-- Whether the request has the cookie whose name is in `txn.cookie_name`.
core.register_fetches("has_session", function(txn)
  local name = from_hex(txn:get_var("txn.cookie_name"))
  return subjects.cookie(txn, name, function(text) return text ~= "" end) and "yes" or "no"
end)

-- The value of that cookie; empty if the request does not have it.
core.register_fetches("session_of_cookie", function(txn)
  local name, found = from_hex(txn:get_var("txn.cookie_name")), ""
  subjects.cookie(txn, name, function(text)
    found = text
    return true
  end)
  return found
end)

-- The attributes with which the response sets that cookie, such as `; Path=/; HttpOnly`, or `;` without any. Empty if
-- the response does not set it.
core.register_fetches("scope_of_new_session", function(txn)
  local name = from_hex(txn:get_var("txn.cookie_name"))
  for at = 1, txn.f:res_fhdr_cnt("set-cookie") do
    local pair, scope = txn.f:res_fhdr("set-cookie", at):match("^([^;]*)(.*)$")
    if any_pair(pair, ";", name, function() return true end) then return scope == "" and ";" or scope end
  end
  return ""
end)

-- The filters of routes.
local filters = Map.new(os.getenv("SPOUT_FILTERS_MAP"), Map._str)
-- The filters of single pools of routes.
local share_filters = Map.new(os.getenv("SPOUT_SHARE_FILTERS_MAP"), Map._str)

local function read_list(text)
  local values = {}
  for value in gmatch(text, "%.([^.]*)") do values[#values + 1] = from_hex(value) end
  return values
end
local function contains(values, wanted)
  for at = 1, #values do
    if values[at] == wanted then return true end
  end
  return false
end

-- The path with its prefix `from` replaced by `to`; nil if it does not begin with `from`.
local function with_prefix(path, from, to)
  if path == nil or sub(path, 1, #from) ~= from then return nil end
  local rest = sub(path, #from + 1)
  if rest ~= "" and sub(rest, 1, 1) ~= "/" then return nil end
  local new = to .. rest
  return new == "" and "/" or new
end

-- The steps of filters, by their word. HAProxy silently omits a header that does not fit into its buffer. So a step
-- reads back what it wrote, and returns false if it is not there.
local request_steps = {
  ["request-del"] = function(http, name) http:req_del_header(name) end,
  ["request-set"] = function(http, name, value, txn)
    http:req_set_header(name, value)
    return txn.f:req_fhdr(name) == value
  end,
  ["request-add"] = function(http, name, value, txn)
    http:req_add_header(name, value)
    return txn.f:req_fhdr(name, -1) == value
  end,
  host = function(http, host) http:req_set_header("host", host) end,
  path = function(http, path) http:req_set_path(path) end,
  prefix = function(http, from, to, txn)
    local path = with_prefix(txn.f:path(), from, to)
    if path ~= nil then http:req_set_path(path) end
  end,
}
local response_steps = {
  ["response-del"] = function(http, name) http:res_del_header(name) end,
  ["response-set"] = function(http, name, value, txn)
    http:res_set_header(name, value)
    return txn.f:res_fhdr(name) == value
  end,
  ["response-add"] = function(http, name, value, txn)
    http:res_add_header(name, value)
    return txn.f:res_fhdr(name, -1) == value
  end,
}

local function read_steps(text)
  if text == nil then return nil end
  local read = { request = {}, response = {} }
  for step in gmatch(text, "/([^/]+)") do
    local word, rest = step:match("^([^:]+):(.*)$")
    if word == "cors" then
      local credentials, age, origins, methods, headers, expose =
        rest:match("^(%d):(%d+):([^:]*):([^:]*):([^:]*):([^:]*)$")
      local exposed = table.concat(read_list(expose), ", ")
      read.cors = {
        credentials = credentials == "1", age = age, exposed = exposed,
        origins = read_list(origins), methods = read_list(methods), headers = read_list(headers),
      }
    else
      local first, second = rest:match("^([^:]*):?(.*)$")
      local of = request_steps[word] ~= nil and "request" or "response"
      local run = (request_steps[word] or response_steps[word])
      read[of][#read[of] + 1] = { run, from_hex(first), from_hex(second) }
    end
  end
  return read
end

local function read_filters(key) return read_steps(filters:lookup(key .. "/do")) end
local function read_share_filters(key) return read_steps(share_filters:lookup(key .. "/do")) end

local function filters_of(txn)
  return read_once(txn.f:fe_name() .. "/" .. txn:get_var("txn.filter"), read_filters)
end
local function filters_of_share(txn)
  return read_once(txn.f:fe_name() .. "/" .. txn:get_var("txn.ownfilter"), read_share_filters)
end

-- Whether a list allows an origin, given in lower case. An item is `*`, an origin, or `scheme://*.name` for all names
-- below `name`.
local function is_allowed(origins, origin)
  for at = 1, #origins do
    local allowed = origins[at]
    if allowed == "*" or allowed == origin then return true end
    local scheme, domain = allowed:match("^(https?://)%*(%..*)$")
    if scheme ~= nil and sub(origin, 1, #scheme) == scheme and #origin > #scheme + #domain
      and sub(origin, -#domain) == domain then
      return true
    end
  end
  return false
end

-- The value of `Access-Control-Allow-Origin` for an origin; nil if it is not allowed.
local function allowed_origin(cors, origin)
  if not is_allowed(cors.origins, origin:lower()) then return nil end
  if contains(cors.origins, "*") and not cors.credentials then return "*" end
  return origin
end

-- Browsers do not accept `*` together with credentials, so the answer repeats what the browser asked for.
local function allowed_names(values, asked)
  if contains(values, "*") then return asked or "" end
  return table.concat(values, ", ")
end

local function answer_preflight(txn, cors, origin)
  local reply = txn:reply({ status = 204 })
  local allowed = allowed_origin(cors, origin)
  if allowed ~= nil then
    reply:add_header("Access-Control-Allow-Origin", allowed)
    reply:add_header("Access-Control-Allow-Methods",
      allowed_names(cors.methods, txn.f:req_fhdr("access-control-request-method")))
    local headers = allowed_names(cors.headers, txn.f:req_fhdr("access-control-request-headers"))
    if headers ~= "" then reply:add_header("Access-Control-Allow-Headers", headers) end
    if cors.credentials then reply:add_header("Access-Control-Allow-Credentials", "true") end
    reply:add_header("Access-Control-Max-Age", cors.age)
    -- Browsers read it in the response itself (Fetch, section 3.2.3). Gateway API's conformance tests want it, too.
    if cors.exposed ~= "" then reply:add_header("Access-Control-Expose-Headers", cors.exposed) end
  end
  reply:add_header("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
  txn:done(reply)
end

-- If one of our headers does not fit, the request is refused. Otherwise a client could remove it by long headers.
local function change_request(txn, steps)
  for at = 1, #steps do
    local step = steps[at]
    if step[1](txn.http, step[2], step[3], txn) == false then return txn:done(txn:reply({ status = 431 })) end
  end
end
local function change_response(txn, read)
  -- The route was removed before the response came, so its filters are unknown now.
  if read == nil then return txn:done(txn:reply({ status = 502 })) end
  local steps = read.response
  for at = 1, #steps do
    local step = steps[at]
    if step[1](txn.http, step[2], step[3], txn) == false then return txn:done(txn:reply({ status = 502 })) end
  end
end

core.register_action("filter_request", { "http-req" }, function(txn)
  local read = filters_of(txn)
  local cors, origin = read.cors, txn.f:req_fhdr("origin")
  if cors ~= nil and origin ~= nil then
    if txn.f:method() == "OPTIONS" and txn.f:req_fhdr("access-control-request-method") ~= nil then
      return answer_preflight(txn, cors, origin)
    end
    txn:set_var("txn.origin", origin)
  end
  change_request(txn, read.request)
end)
core.register_action("filter_request_of_share", { "http-req" }, function(txn)
  change_request(txn, filters_of_share(txn).request)
end)
core.register_action("filter_response_of_share", { "http-res" }, function(txn)
  change_response(txn, filters_of_share(txn))
end)

core.register_action("filter_response", { "http-res" }, function(txn)
  local read, http = filters_of(txn), txn.http
  change_response(txn, read)
  local cors, origin = read.cors, txn:get_var("txn.origin")
  if cors == nil then return end
  for _, name in ipairs({ "origin", "credentials" }) do http:res_del_header("access-control-allow-" .. name) end
  http:res_del_header("access-control-expose-headers")
  local allowed = origin ~= nil and allowed_origin(cors, origin) or nil
  -- Tells caches that the response depends on the origin.
  if allowed ~= "*" then http:res_add_header("vary", "Origin") end
  if allowed == nil then return end
  http:res_set_header("access-control-allow-origin", allowed)
  if cors.credentials then http:res_set_header("access-control-allow-credentials", "true") end
  if cors.exposed ~= "" then http:res_set_header("access-control-expose-headers", cors.exposed) end
end)

-- Replaces the prefix of a redirect's path; the query stays.
core.register_action("replace_prefix", { "http-req" }, function(txn)
  local from, to = txn:get_var("txn.replace"):match("^(%x*):(%x*)$")
  local path, query = txn:get_var("txn.path"):match("^([^?]*)(.*)$")
  local new = with_prefix(path, from_hex(from), from_hex(to))
  if new ~= nil then txn:set_var("txn.path", new .. query) end
end)

-- Parses names with commas between them. A name may be `*.` and a domain.
local function read_names(text)
  local names = {}
  for name in gmatch(text, "[^,]+") do names[name] = true end
  return names
end
-- The narrowest of the names that covers the host; empty if none does.
local function narrowest(names, host)
  if names[host] then return host end
  local behind = host:match("^[^.]*%.(.+)$")
  while behind ~= nil do
    if names["*." .. behind] then return "*." .. behind end
    behind = behind:match("^[^.]*%.(.+)$")
  end
  return ""
end
-- Answers 421 (RFC 9110 section 15.5.20) to a request whose host is covered by another name than the one that its
-- connection asked for. Clients repeat it on a connection of its own.
core.register_action("refuse_misdirected", { "http-req" }, function(txn)
  local text = hosts:lookup(txn.f:fe_name())
  if text == nil then return end
  local names = read_once("hosts " .. text, function() return read_names(text) end)
  local host, asked = txn:get_var("txn.host") or "", txn:get_var("txn.asked") or ""
  if narrowest(names, host) ~= narrowest(names, asked) then txn:done(txn:reply({ status = 421 })) end
end)

-- Token buckets, by limit and client: the number of tokens, and the time of that number. There are two generations of
-- at most this many. When the young one is full, the old one is forgotten: its clients, which made no request for the
-- longest time, begin with a full bucket.
local MOST_BUCKETS = 10000
local young, old, young_count = {}, {}, 0
local function bucket_of(key, most, at)
  local bucket = young[key]
  if bucket ~= nil then return bucket end
  bucket = old[key] or { tokens = most, at = at }
  if young_count >= MOST_BUCKETS then young, old, young_count = {}, young, 0 end
  young[key], young_count = bucket, young_count + 1
  return bucket
end

-- Takes a token for a request whose route limits the rate (`txn.rate`). If there is none, it sets `txn.again` to the
-- seconds until there is one.
core.register_action("take_token", { "http-req" }, function(txn)
  local requests, seconds, burst = txn:get_var("txn.rate"):match("^(%d+)/(%d+)/(%d+)$")
  local per_second, most = requests / seconds, burst + 1
  local now = core.now()
  local at = now.sec + now.usec / 1000000
  local bucket = bucket_of(txn.f:fe_name() .. "/" .. txn:get_var("txn.limits") .. "/" .. txn:get_var("txn.client"), most, at)
  bucket.tokens = math.min(most, bucket.tokens + math.max(0, at - bucket.at) * per_second)
  bucket.at = at
  if bucket.tokens >= 1 then
    bucket.tokens = bucket.tokens - 1
  else
    txn:set_var("txn.again", tostring(math.ceil((1 - bucket.tokens) / per_second)))
  end
end)

-- These three make the retries of a route, between the relays `retry-<n>` and `attempt`: see relays.ts.
core.register_action("back_off", { "http-req" }, function(txn)
  core.msleep(tonumber(txn:get_var("txn.back_off")))
end)

-- Status 425 tells the relay to try again. So a member's own 425 reaches the relay as 200, with the real status in a
-- header.
core.register_action("ask_again", { "http-res" }, function(txn)
  local status = txn.f:status()
  local again = find(txn:get_var("txn.codes"), "." .. status .. ".", 1, true) ~= nil
  if not again and status ~= 425 then return end
  txn.http:res_set_header("x-spout-status", tostring(status))
  txn.http:res_set_status(again and 425 or 200)
end)

core.register_action("restore_status", { "http-res" }, function(txn)
  txn.http:res_set_status(tonumber(txn.f:res_fhdr("x-spout-status")))
  txn.http:res_del_header("x-spout-status")
end)

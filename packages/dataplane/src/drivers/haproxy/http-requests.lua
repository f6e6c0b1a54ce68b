-- What HAProxy's rules cannot say without a tenant's text in the configuration. Requests are tested for what is no key of
-- a map (parts of texts, regular expressions, headers, cookies, queries, sources), and for cookies of applications. The rows of the map `tests` say what; `test-rows.ts` writes them. A name under which rows are says what they hold, so
-- what was read once is kept. HAProxy of Debian gives `lua-load` no arguments, so the map's path is in the environment.
local rows = Map.new(os.getenv("SPOUT_TESTS_MAP"), Map._str)

local byte, sub, find, gmatch = string.byte, string.sub, string.find, string.gmatch

local function from_hex(text)
  return (text:gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end))
end

-- What was read, by key of the map; forgotten as a whole when it has grown beyond what is in use.
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

-- A table of two bytes for each state and class of bytes: the next state. See the automaton of the model.
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

-- The texts of a request under a subject, one after the other, until `fits` takes one.
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

-- Which of the routes of the choice in `txn.choice` takes the request: its number from 0, or `any`.
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

-- The attributes with which the response sets that cookie, such as `; Path=/; HttpOnly`, at least `;`. Empty: it does
-- not.
core.register_fetches("scope_of_new_session", function(txn)
  local name = from_hex(txn:get_var("txn.cookie_name"))
  for at = 1, txn.f:res_fhdr_cnt("set-cookie") do
    local pair, scope = txn.f:res_fhdr("set-cookie", at):match("^([^;]*)(.*)$")
    if any_pair(pair, ";", name, function() return true end) then return scope == "" and ";" or scope end
  end
  return ""
end)

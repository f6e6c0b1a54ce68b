-- Asks a backend whether a request may go on. The rows of the map `authorizers` name the backend and the question;
-- `authorizers.ts` writes them. Only a request with `txn.authorized` goes on; any failure here leaves it unset.
local rows = Map.new(os.getenv("SPOUT_AUTHORIZERS_MAP"), Map._str)

local gmatch = string.gmatch

-- Most questions under way: in all, to one backend, and about one list of users. So a slow backend leaves room for
-- others.
local MOST, MOST_TO_ONE, MOST_TO_LIST = 512, 256, 64
local WITHIN_S = 10
-- Most bytes of a refusal's body that a client gets.
local MOST_BODY = 8000
-- Most bytes of the URL that a client returns to after signing in: the whole location must fit into the buffer.
local MOST_RETURN = 4000

local under_way, to_one = 0, {}
local function end_question(question)
  if question.ended then return end
  question.ended = true
  local others = to_one[question.of] - 1
  under_way, to_one[question.of] = under_way - 1, others > 0 and others or nil
end
-- If a client leaves, HAProxy ends the action wherever it waits. Then the garbage collector ends its question.
local Question = { __gc = end_question }
-- Nil if too many questions are under way. `of` is a backend, or a list of users.
local function begin_question(of, most)
  if under_way >= MOST or (to_one[of] or 0) >= most then return nil end
  under_way, to_one[of] = under_way + 1, (to_one[of] or 0) + 1
  return setmetatable({ of = of }, Question)
end

local function from_hex(text)
  return (text:gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end))
end
local function read_names(text)
  local names = {}
  for name in gmatch(text, "%.([^.]*)") do names[from_hex(name)] = true end
  return names
end
-- A CGI-like server takes a name with underscores for the same header.
local function plain(name) return (name:gsub("_", "-")) end

local readers = {
  method = function(ask, text) ask.method = from_hex(text) end,
  host = function(ask, text) ask.host = from_hex(text) end,
  path = function(ask, text) ask.path = from_hex(text) end,
  prefix = function(ask, text) ask.prefix = from_hex(text) end,
  send = function(ask, text) ask.send = read_names(text) end,
  set = function(ask, text)
    local name, value = text:match("^(%x*):(%x*)$")
    name = from_hex(name)
    if own_requests.is_left_out(name) then return end
    ask.lines[#ask.lines + 1] = name .. ": " .. from_hex(value)
    ask.is_set[plain(name)] = true
  end,
  take = function(ask, text)
    for name in pairs(read_names(text)) do
      ask.take[name] = true
      ask.is_taken[plain(name)] = true
    end
  end,
  cookies = function(ask, text) ask.cookies = text end,
  ["sign-in"] = function(ask, text)
    local scheme, host, port, path, parameter, as = text:match("^(.-):(%x*):(%d*):(%x*):(%x*):(.*)$")
    ask.sign_in = {
      scheme = scheme, host = from_hex(host), port = port, path = from_hex(path), parameter = from_hex(parameter), as = as,
    }
  end,
  cors = function(ask) ask.is_cors = true end,
  -- The content id of a list of users, which `spout-passwords` has.
  users = function(ask, text) ask.users = text end,
  -- In the first of two questions: `all` if both answers must let the request in, `any` if one is enough.
  satisfy = function(ask, text) ask.satisfy = text end,
}

-- Parsed rows by their text. All are forgotten when there are too many.
local MOST_KEPT = 1000
local kept, kept_count = {}, 0
local function read_ask(text)
  if kept[text] ~= nil then return kept[text] end
  local ask = { send = {}, lines = {}, is_set = {}, take = {}, is_taken = {} }
  for word, rest in gmatch(text, "/([^/:]+):([^/]*)") do readers[word](ask, rest) end
  ask.send.authorization = true
  if kept_count >= MOST_KEPT then kept, kept_count = {}, 0 end
  kept[text], kept_count = ask, kept_count + 1
  return ask
end

local function scheme_of(txn) return txn.sf:ssl_fc() == "1" and "https" or "http" end
local function host_of(txn) return txn.f:req_fhdr("host", 1) or "" end

-- Headers that describe the request. A client's own headers of these names are not sent.
local function told(txn)
  local f, host, pathq = txn.f, host_of(txn), txn.f:pathq() or "*"
  return {
    ["x-original-method"] = f:method(),
    ["x-original-url"] = scheme_of(txn) .. "://" .. host .. pathq,
    ["x-auth-request-redirect"] = pathq,
    ["x-real-ip"] = f:src(),
    ["x-forwarded-for"] = f:src(),
    ["x-forwarded-method"] = f:method(),
    ["x-forwarded-proto"] = scheme_of(txn),
    ["x-forwarded-host"] = host,
    ["x-forwarded-uri"] = pathq,
  }
end

local function target_of(txn, ask)
  if ask.path ~= nil then return ask.path end
  local pathq = txn.f:pathq() or "*"
  if ask.prefix == nil then return pathq end
  return ask.prefix .. (pathq:sub(1, 1) == "/" and pathq or "/")
end

-- The text of the question; nil for a request about which no question can be written.
local function text_of(txn, ask, backend)
  local method = ask.method or txn.f:method()
  if method == "CONNECT" then return nil end
  local lines = { method .. " " .. target_of(txn, ask) .. " HTTP/1.1", "host: " .. (ask.host or host_of(txn)) }
  local said = ask.users == nil and told(txn) or {}
  for name, value in pairs(said) do
    if not ask.is_set[name] then lines[#lines + 1] = name .. ": " .. value end
  end
  for name, values in pairs(txn.http:req_get_headers()) do
    local like = plain(name)
    local is_ours = name == "host" or said[like] ~= nil or ask.is_set[like] or own_requests.is_left_out(like)
    if (ask.send["*"] or ask.send[name]) and not is_ours then
      for at = 0, #values do lines[#lines + 1] = name .. ": " .. values[at] end
    end
  end
  for _, line in ipairs(ask.lines) do lines[#lines + 1] = line end
  if not own_requests.has_no_body(method) then lines[#lines + 1] = "content-length: 0" end
  lines[#lines + 1] = "connection: close"
  lines[#lines + 1] = own_requests.name_line(txn)
  lines[#lines + 1] = own_requests.backend_line(backend)
  for _, line in ipairs(lines) do
    if line:find("[\r\n%z]") ~= nil then return nil end
  end
  return own_requests.proxy_line(txn.f) .. table.concat(lines, "\r\n") .. "\r\n\r\n"
end

-- Reads the header of a response; nil if none comes. Its lines are pairs of name and value.
local function read_header(socket, until_s)
  local first = socket:receive("*l")
  local status = first ~= nil and tonumber(first:match("^HTTP/1%.[01] (%d%d%d)")) or nil
  if status == nil then return nil end
  local answer = { status = status, lines = {} }
  while core.now().sec <= until_s do
    local line = socket:receive("*l")
    if line == nil then return nil end
    line = line:gsub("\r$", "")
    if line == "" then return answer end
    local name, value = line:match("^([^:%s]+):%s*(.-)%s*$")
    if name ~= nil then answer.lines[#answer.lines + 1] = { name:lower(), value } end
  end
  return nil
end

local function value_of(answer, name)
  for _, line in ipairs(answer.lines) do
    if line[1] == name then return line[2] end
  end
  return nil
end

local function ask_backend(socket, text)
  socket:settimeout(WITHIN_S)
  if not socket:connect(own_requests.socket) or not socket:send(text) then return nil end
  local until_s = core.now().sec + WITHIN_S
  local answer
  repeat
    answer = read_header(socket, until_s)
  until answer == nil or answer.status >= 200
  local length = answer ~= nil and tonumber(value_of(answer, "content-length")) or nil
  -- The client gets the body of a refusal.
  if length ~= nil and length > 0 and length <= MOST_BODY and (answer.status == 401 or answer.status == 403) then
    answer.body = socket:receive(length)
  end
  return answer
end

-- Removes a client's own headers of the names that the answer may set.
local function remove_taken(txn, ask)
  for name in pairs(txn.http:req_get_headers()) do
    if ask.is_taken[plain(name)] then txn.http:req_del_header(name) end
  end
end

-- Copies headers of the answer to the request. False if one does not fit into the buffer.
local function take_headers(txn, ask, answer)
  remove_taken(txn, ask)
  for _, line in ipairs(answer.lines) do
    local name, value = line[1], line[2]
    if ask.take[name] and value ~= "" then
      txn.http:req_add_header(name, value)
      if txn.f:req_fhdr(name, -1) ~= value then return false end
    end
  end
  return true
end

local function cookies_of(answer)
  local cookies = {}
  for _, line in ipairs(answer.lines) do
    if line[1] == "set-cookie" then cookies[#cookies + 1] = line[2] end
  end
  return cookies
end

local function escaped(text)
  return (text:gsub("[^A-Za-z0-9._~-]", function(letter) return ("%%%02X"):format(letter:byte()) end))
end

local function location_of(txn, to)
  local own = host_of(txn):gsub(":%d*$", "")
  local host = to.host ~= "" and to.host or own
  if host == "" then return nil end
  local scheme = to.scheme ~= "" and to.scheme or scheme_of(txn)
  local location = scheme .. "://" .. host .. (to.port ~= "" and ":" .. to.port or "") .. to.path
  if to.parameter == "" then return location end
  local pathq = txn.f:pathq() or "/"
  local from = escaped(to.as == "path" and pathq or scheme_of(txn) .. "://" .. host_of(txn) .. pathq)
  if #from > MOST_RETURN then return location end
  return location .. (to.path:find("?", 1, true) == nil and "?" or "&") .. to.parameter .. "=" .. from
end

-- Headers of a refusal that are passed on to the client.
local PASSED_ON = {
  "www-authenticate", "cache-control", "content-type", "content-language", "content-encoding", "retry-after",
}

-- Status, header lines, an empty line and the body, as service `refuse` reads them.
local function refusal_text(status, headers, body)
  local lines = { tostring(status) }
  for _, header in ipairs(headers) do lines[#lines + 1] = header[1] .. ": " .. header[2] end
  return table.concat(lines, "\n") .. "\n\n" .. body
end

local function refuse(txn, ask, answer)
  local location = answer.status == 401 and ask.sign_in ~= nil and location_of(txn, ask.sign_in) or nil
  local status, headers, body = answer.status, {}, ""
  if location ~= nil then
    status, headers = 302, { { "location", location } }
  else
    for _, name in ipairs(PASSED_ON) do
      for _, line in ipairs(answer.lines) do
        if line[1] == name then headers[#headers + 1] = line end
      end
    end
    if answer.body ~= nil and txn.f:method() ~= "HEAD" then body = answer.body end
  end
  if ask.cookies == "always" or ask.cookies == "successes" and location ~= nil then
    for _, cookie in ipairs(cookies_of(answer)) do headers[#headers + 1] = { "set-cookie", cookie } end
  end
  if txn:get_var("txn.unread") ~= nil then return txn:set_var("txn.refusal", refusal_text(status, headers, body)) end
  local reply = txn:reply({ status = status })
  for _, header in ipairs(headers) do reply:add_header(header[1], header[2]) end
  reply:set_body(body)
  txn:done(reply)
end

core.register_service("refuse", "http", function(applet)
  local head, body = applet:get_var("txn.refusal"):match("^(.-)\n\n(.*)$")
  local headers = {}
  for name, value in gmatch(head, "\n([^:\n]+): ([^\n]*)") do headers[#headers + 1] = { name, value } end
  answer_unread(applet, tonumber(head:match("^%d+")), headers, body)
end)

local function is_preflight(f)
  return f:method() == "OPTIONS" and f:req_fhdr("origin") ~= nil
    and f:req_fhdr("access-control-request-method") ~= nil
end

-- The answer to one question, or one of these two if there is none.
local FAILED, BUSY = { status = 500, lines = {} }, { status = 503, lines = {} }
local function answer_of(txn, ask, backend)
  if backend == nil or backend == "none" then return FAILED end
  local asked = text_of(txn, ask, backend)
  if asked == nil then return FAILED end
  local question = begin_question(ask.users or backend, ask.users and MOST_TO_LIST or MOST_TO_ONE)
  if question == nil then return BUSY end
  local socket = core.tcp()
  local is_asked, answer = pcall(ask_backend, socket, asked)
  socket:close()
  end_question(question)
  if not is_asked or answer == nil then return FAILED end
  -- Too many passwords wait to be compared with this list.
  if ask.users ~= nil and answer.status == 503 then return BUSY end
  return answer
end

local function lets_in(answer) return answer.status >= 200 and answer.status <= 299 end
local function is_refusal(answer) return answer.status == 401 or answer.status == 403 end

-- Acts on an answer. If `txn.authorized` stays unset, a later rule answers the request with 500.
local function follow(txn, ask, answer)
  if is_refusal(answer) then return refuse(txn, ask, answer) end
  if answer == BUSY then return txn:done(txn:reply({ status = 503 })) end
  if not lets_in(answer) then return end
  if not take_headers(txn, ask, answer) then return txn:done(txn:reply({ status = 431 })) end
  local cookies = ask.cookies ~= "never" and cookies_of(answer) or {}
  if #cookies > 0 then txn:set_var("txn.given_cookies", ask.cookies .. "\n" .. table.concat(cookies, "\n")) end
  txn:set_var("txn.authorized", "yes")
end

-- One of two answers is enough, and the first did not let the request in. If neither does, the client gets a failure
-- rather than a refusal, and 401, which tells what would help, rather than 403. nginx does the same.
local function follow_either(txn, ask, first, other, last)
  if not lets_in(last) and (not is_refusal(first) or last.status == 403) then return follow(txn, ask, first) end
  if last.status == 401 then
    for _, line in ipairs(first.lines) do
      if line[1] == "www-authenticate" then last.lines[#last.lines + 1] = line end
    end
  end
  return follow(txn, other, last)
end

core.register_action("authorize", { "http-req" }, function(txn)
  local key = txn.f:fe_name() .. "/" .. txn:get_var("txn.authorizer")
  local text = rows:lookup(key .. "/ask")
  if text == nil then return end
  local ask = read_ask(text)
  -- A later filter answers it.
  if ask.is_cors and is_preflight(txn.f) then return txn:set_var("txn.authorized", "preflight") end
  local answer = answer_of(txn, ask, rows:lookup(key .. "/by"))
  if ask.satisfy == nil or (ask.satisfy == "all" and not lets_in(answer)) then return follow(txn, ask, answer) end
  local second = rows:lookup(key .. "/ask1")
  if second == nil then return end
  local other = read_ask(second)
  if ask.satisfy == "any" and lets_in(answer) then
    -- The second question is not asked, so no answer sets these headers.
    remove_taken(txn, other)
    return follow(txn, ask, answer)
  end
  local last = answer_of(txn, other, rows:lookup(key .. "/by1"))
  if ask.satisfy == "any" then return follow_either(txn, ask, answer, other, last) end
  return follow(txn, other, last)
end)

core.register_action("give_cookies", { "http-res" }, function(txn)
  local mode, cookies = txn:get_var("txn.given_cookies"):match("^(%a+)\n(.*)$")
  if mode == "successes" and txn.f:status() >= 400 then return end
  for cookie in gmatch(cookies, "[^\n]+") do txn.http:res_add_header("set-cookie", cookie) end
end)

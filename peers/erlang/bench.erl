%% Erlang on dyno's workloads of actors, over dyno's driving protocol
%% (internal/program/PROTOCOL.md). The idiom is that of the language: a process for each actor,
%% which is a function that receives and calls itself with a new state; messages are tuples.
%% Requests carry a reference that the answer has too. Protocols, numbers and checks are those of
%% workloads/rings.go, funnel.go, actor_big.go, actor_ask.go, actor_latency.go and actor_spawn.go;
%% what nodes have seen they say in the end.
-module(bench).
-export([main/0]).
-export([fill/2, share/3, over/0, wrong/1]). % for savina

-define(COLUMN, "peer-erlang").
-define(LATENCIES, [{"p50-ns", 50}, {"p99-ns", 99}, {"p99.9-ns", 99.9}, {"max-ns", 100}]). % percentiles by their units
-define(M64, 16#ffffffffffffffff).
-define(M32, 16#ffffffff).

%% The workloads: name, operations of the smallest whole piece, what prepares a run. A run is a
%% function that does n operations and returns the next one, and one that checks.
workloads() ->
    [{"pingpong", 1, fun() -> rings(1, 2) end},
     {"ring", 100, fun() -> rings(1, 100) end},
     {"pairs", 2000, fun() -> rings(1000, 2) end},
     {"count", 1, fun() -> funnel(1) end},
     {"fanin", 1, fun() -> funnel(8) end},
     {"big", 1, fun() -> big(120) end},
     {"ask", 1, fun ask/0},
     {"latency1k", 1, fun() -> latency(1000000) end},
     {"latency100k", 1, fun() -> latency(10000) end},
     {"spawn", 1, fun spawns/0}]
    ++ [{"savina/program=" ++ Name, Unit, Prepare} || {Name, Unit, Prepare} <- savina:programs()].

main() ->
    try drive(string:split(os:getenv("DYNO_DRIVE", ""), " ", all)) of
        Status -> halt(Status)
    catch
        _:Why:Stack ->
            io:format(standard_error, "~p~n~p~n", [Why, Stack]),
            halt(1)
    end.

drive([""]) ->
    io:format(standard_error, "This program speaks dyno's driving protocol: benchrun peers run measures it.~n", []),
    2;
drive(Fields) ->
    case lists:member("list", Fields) of
        true -> list();
        false -> measure(Fields)
    end.

list() ->
    io:format("pkg: github.com/dynolab/dyno/peers~n"),
    io:format("made: Erlang/OTP ~s, ERTS ~s, ~p, ~s~n",
              [erlang:system_info(otp_release), erlang:system_info(version), erlang:system_info(emu_flavor), os:getenv("PEER_FLAGS", "")]),
    [io:format("Unit ~s better=lower~n", [Unit]) || {Unit, _} <- ?LATENCIES],
    [io:format("~s~n", [benchmark(Name)]) || {Name, _, _} <- workloads()],
    0.

benchmark(Name) -> "BenchmarkActor/workload=" ++ Name ++ "/impl=" ++ ?COLUMN.

field(Key, Fields) ->
    case [string:prefix(F, Key) || F <- Fields, string:prefix(F, Key) =/= nomatch] of
        [V | _] -> V;
        [] -> ""
    end.

measure(Fields) ->
    Port = open_port({fd, 3, 4}, [{line, 1024}, binary, eof]),
    Say = fun(Text) -> port_command(Port, [Text, $\n]) end,
    Name = field("name=", Fields),
    case {field("protocol=", Fields), field("slow=", Fields), [W || {N, _, _} = W <- workloads(), benchmark(N) =:= Name]} of
        {"1", "0", [{_, Unit, Prepare}]} ->
            put(latencies, []),
            {Do, Check} = Prepare(),
            Say(["hello\tsession\t", integer_to_list(Unit)]),
            serve(Port, Say, Do, Check);
        {_, _, []} ->
            2;
        _ ->
            Say("refused\t\"it speaks version 1 of the protocol, and does not slow itself down\""),
            flush_port(Port)
    end.

serve(Port, Say, Do, Check) ->
    receive
        {Port, {data, {eol, Line}}} ->
            case binary:split(Line, <<" ">>, [global]) of
                [Run, N] when Run =:= <<"run">>; Run =:= <<"call">> -> slice(Port, Say, Do, Check, binary_to_integer(N));
                [<<"usage">>] -> Say(["usage\t", integer_to_list(cpu())]), serve(Port, Say, Do, Check);
                [<<"reset">>] -> put(latencies, []), Say("reset"), serve(Port, Say, Do, Check);
                [Profile | _] when Profile =:= <<"profile">>; Profile =:= <<"endprofile">> ->
                    Say("profile\t\"no profiles\""), serve(Port, Say, Do, Check);
                [<<"finish">>] -> answer(Say, fun() -> Check(), ["result" | figures()] end), flush_port(Port);
                _ -> 3
            end;
        {Port, eof} -> 0
    end.

%% What a run finds to be wrong it throws; then there is no figure.
answer(Say, F) ->
    try Say(F()), ok
    catch throw:{wrong, What} -> Say(["failed\t\"", What, "\""]), wrong
    end.

slice(Port, Say, Do, Check, N) ->
    Next = self(),
    case answer(Say, fun() ->
             Cpu = cpu(),
             Begin = erlang:monotonic_time(nanosecond),
             put(paused, {0, 0}),
             Later = Do(N),
             {Time, Used} = get(paused),
             Took = erlang:monotonic_time(nanosecond) - Begin - Time,
             put(Next, Later),
             ["slice\t", integer_to_list(N), $\t, integer_to_list(Took), $\t, integer_to_list(cpu() - Cpu - Used)]
         end) of
        ok -> serve(Port, Say, erase(Next), Check);
        wrong -> flush_port(Port)
    end.

%% What is no part of an operation takes no part of the time.
pause(F) ->
    Cpu = cpu(),
    Begin = erlang:monotonic_time(nanosecond),
    F(),
    {Time, Used} = get(paused),
    put(paused, {Time + erlang:monotonic_time(nanosecond) - Begin, Used + cpu() - Cpu}).

%% The driver waits for the end of the process, so what was said must have left it.
flush_port(Port) ->
    case erlang:port_info(Port, queue_size) of
        {queue_size, N} when N > 0 -> erlang:yield(), flush_port(Port);
        _ -> 0
    end.

%% The processor time of all threads; the system tells milliseconds of it.
cpu() ->
    {Milliseconds, _} = erlang:statistics(runtime),
    Milliseconds * 1000000.

wrong(What) -> throw({wrong, What}).

%% The end of a Do, or what was wrong.
over() ->
    receive
        {over, What} -> What;
        {wrong, What} -> wrong(What)
    end.

fill(X, 0) -> X;
fill(X, Rounds) ->
    Y = (X * 16#9e3779b1) band ?M32,
    fill((((Y bsl 15) bor (Y bsr 17)) band ?M32) bxor 16#85ebca6b, Rounds - 1).

share(N, I, K) when I < N rem K -> N div K + 1;
share(N, _, K) -> N div K.

%% Rings: a token goes round; a hop is an operation. Each actor has had a token once when the run
%% is prepared.
rings(Count, Size) ->
    Main = self(),
    Rings = [begin
                 Weights = [fill(R * Size + P, 2) || P <- lists:seq(0, Size - 1)],
                 Nodes = [spawn_link(fun() -> node_begin(Main, R, P, W) end) || {P, W} <- lists:zip(lists:seq(0, Size - 1), Weights)],
                 [N ! {next, Next} || {N, Next} <- lists:zip(Nodes, tl(Nodes) ++ [hd(Nodes)])],
                 {list_to_tuple(Nodes), list_to_tuple(Weights)}
             end || R <- lists:seq(0, Count - 1)],
    State = list_to_tuple([{Nodes, Weights, 0, 0} || {Nodes, Weights} <- Rings]), % hops so far, sum
    Do = rings_do(State, 0),
    {Do(Count * Size), fun() -> rings_check() end}.

rings_do(State, First) ->
    fun(N) ->
        Count = tuple_size(State),
        Moving = min(N, Count),
        [begin
             R = (First + I) rem Count,
             {Nodes, _, Hops, Sum} = element(R + 1, State),
             element(Hops rem tuple_size(Nodes) + 1, Nodes) ! {token, share(N, I, Count), Sum}
         end || I <- lists:seq(0, Moving - 1)],
        Sums = maps:from_list([over() || _ <- lists:seq(1, Moving)]),
        Now = list_to_tuple([begin
                                 R = (I - First + Count) rem Count,
                                 {Nodes, Weights, Hops, Sum} = element(I + 1, State),
                                 {Nodes, Weights, Hops + share(N, R, Count), maps:get(I, Sums, Sum)}
                             end || I <- lists:seq(0, Count - 1)]),
        put(rings, Now),
        rings_do(Now, (First + N) rem Count)
    end.

rings_check() ->
    [begin
         Size = tuple_size(Nodes),
         Wants = [share(Hops, P, Size) || P <- lists:seq(0, Size - 1)],
         Visits = [begin N ! {visits, self()}, receive {visits, N, V} -> V end end || N <- tuple_to_list(Nodes)],
         Visits =:= Wants orelse wrong("a node had the token too often or too rarely"),
         Total = lists:sum([W * V || {W, V} <- lists:zip(tuple_to_list(Weights), Wants)]),
         Total band ?M64 =:= Sum orelse wrong("a token has added up something else than it saw")
     end || {Nodes, Weights, Hops, Sum} <- tuple_to_list(get(rings))].

node_begin(Main, Ring, _, Weight) ->
    receive {next, Next} -> node_loop(Main, Ring, Next, Weight, 0) end.

node_loop(Main, Ring, Next, Weight, Visits) ->
    receive
        {token, 1, Sum} ->
            Main ! {over, {Ring, (Sum + Weight) band ?M64}},
            node_loop(Main, Ring, Next, Weight, Visits + 1);
        {token, Left, Sum} ->
            Next ! {token, Left - 1, (Sum + Weight) band ?M64},
            node_loop(Main, Ring, Next, Weight, Visits + 1);
        {visits, Who} ->
            Who ! {visits, self(), Visits},
            node_loop(Main, Ring, Next, Weight, Visits)
    end.

%% A funnel: senders send to one sink, no more than 1,024 of each under way, of which the sink
%% tells the sender 256 at a time.
-define(NOTES, 1021).
-define(WINDOW, 1024).
-define(CREDIT, 256).

funnel(K) ->
    Main = self(),
    Tables = [list_to_tuple([{note, F, I, fill(F * ?NOTES + I, 2)} || I <- lists:seq(0, ?NOTES - 1)]) || F <- lists:seq(0, K - 1)],
    Sink = spawn_link(fun() -> sink(Main, erlang:make_tuple(K, {0, 0, 0, 0}), 0, 0, undefined) end),
    Senders = [spawn_link(fun() -> sender(Sink, T, 0, 0, ?WINDOW) end) || T <- Tables],
    Sink ! {senders, list_to_tuple(Senders)},
    put(funnel, {Sink, Tables, lists:duplicate(K, 0)}),
    {funnel_do(Sink, list_to_tuple(Senders), 0), fun() -> funnel_check() end}.

funnel_do(Sink, Senders, Odd) ->
    fun(N) ->
        K = tuple_size(Senders),
        Sink ! {expect, N},
        receive {expected, Sink} -> ok end,
        Quotas = [share(N, (I - Odd + K) rem K, K) || I <- lists:seq(0, K - 1)],
        [element(I + 1, Senders) ! {send, Q} || {I, Q} <- lists:zip(lists:seq(0, K - 1), Quotas), Q > 0],
        over(),
        {Sink, Tables, Sent} = get(funnel),
        put(funnel, {Sink, Tables, lists:zipwith(fun(A, B) -> A + B end, Sent, Quotas)}),
        funnel_do(Sink, Senders, (Odd + N) rem K)
    end.

funnel_check() ->
    {Sink, Tables, Sent} = get(funnel),
    Sink ! {state, self()},
    States = receive {state, S} -> tuple_to_list(S) end,
    [begin
         Values = [element(4, element(I, T)) || I <- lists:seq(1, ?NOTES)],
         Want = (N div ?NOTES) * lists:sum(Values) + lists:sum(lists:sublist(Values, N rem ?NOTES)),
         {N, Want} =:= {Count, Sum} orelse wrong("the messages that came were not those that were sent")
     end || {T, N, {_, Count, Sum, _}} <- lists:zip3(Tables, Sent, States)].

sender(Sink, Table, Next, 0, Free) ->
    receive
        {send, N} -> sender(Sink, Table, Next, N, Free);
        credit -> sender(Sink, Table, Next, 0, Free + ?CREDIT)
    end;
sender(Sink, Table, Next, Left, 0) ->
    receive credit -> sender(Sink, Table, Next, Left, ?CREDIT) end;
sender(Sink, Table, Next, Left, Free) ->
    Sink ! element(Next + 1, Table),
    sender(Sink, Table, (Next + 1) rem ?NOTES, Left - 1, Free - 1).

%% Of each sender the sink has the index of the next note, how many came, their sum, and how many
%% it has not told the sender of.
sink(Main, In, Left, Expected, Senders) ->
    receive
        {note, From, Index, Value} ->
            case element(From + 1, In) of
                {Index, Count, Sum, Owed} ->
                    Owes = case Owed + 1 of
                               ?CREDIT -> element(From + 1, Senders) ! credit, 0;
                               More -> More
                           end,
                    Left =:= 1 andalso (Main ! {over, ok}),
                    sink(Main, setelement(From + 1, In, {(Index + 1) rem ?NOTES, Count + 1, Sum + Value, Owes}), Left - 1, Expected, Senders);
                _ ->
                    Main ! {wrong, "a message came out of order, or twice"},
                    sink(Main, In, Left, Expected, Senders)
            end;
        {expect, N} -> Main ! {expected, self()}, sink(Main, In, N, N, Senders);
        {senders, All} -> sink(Main, In, Left, Expected, All);
        {state, Who} -> Who ! {state, In}, sink(Main, In, Left, Expected, Senders)
    end.

%% Big: each sends a ping to a random other and waits for its pong, while it answers others.
big(Count) ->
    Main = self(),
    Peers = list_to_tuple([spawn_link(fun() -> peer_begin(Main, I) end) || I <- lists:seq(0, Count - 1)]),
    [P ! {peers, Peers} || P <- tuple_to_list(Peers)],
    put(big, {Peers, 0, 0}),
    {big_do(Peers, 0), fun() -> big_check() end}.

big_do(Peers, First) ->
    fun(N) ->
        Count = tuple_size(Peers),
        Pings = N div 2,
        Busy = [element((First + I) rem Count + 1, Peers) ! {send, share(Pings, I, Count)} || I <- lists:seq(0, min(Pings, Count) - 1)],
        Odd = N rem 2,
        Odd =:= 1 andalso (element(First + 1, Peers) ! {ping, none, 1}),
        [over() || _ <- lists:seq(1, length(Busy) + Odd)],
        {Peers, Asked, Ones} = get(big),
        put(big, {Peers, Asked + Pings, Ones + Odd}),
        big_do(Peers, (First + Pings) rem Count)
    end.

big_check() ->
    {Peers, Asked, Ones} = get(big),
    All = [begin P ! {sums, self()}, receive {sums, P, S} -> S end end || P <- tuple_to_list(Peers)],
    {Sent, SentKeys, Served, ServedKeys} =
        lists:foldl(fun({A, B, C, D}, {E, F, G, H}) -> {A + E, (B + F) band ?M64, C + G, (D + H) band ?M64} end, {0, 0, 0, 0}, All),
    {Asked, Asked + Ones} =:= {Sent, Served} orelse wrong("pings were lost, or served twice"),
    (SentKeys + Ones) band ?M64 =:= ServedKeys orelse wrong("other pings were served than were sent").

-record(big, {main, id, peers, rnd, left = 0, open = false, key = 0, sent = 0, sent_keys = 0, served = 0, served_keys = 0}).

peer_begin(Main, Id) ->
    receive {peers, Peers} -> peer(#big{main = Main, id = Id, peers = Peers, rnd = fill(Id, 5) bor 1}) end.

peer(S) ->
    receive
        {ping, Home, Key} ->
            case Home of
                none -> S#big.main ! {over, ok};
                _ -> Home ! {pong, Key}
            end,
            peer(S#big{served = S#big.served + 1, served_keys = (S#big.served_keys + Key) band ?M64});
        {pong, Key} when S#big.open, Key =:= S#big.key ->
            case S#big.left of
                0 -> S#big.main ! {over, ok}, peer(S#big{open = false});
                _ -> peer(ping(S))
            end;
        {pong, _} ->
            S#big.main ! {wrong, "a peer received a pong twice, or another's"},
            peer(S);
        {send, N} -> peer(ping(S#big{left = N}));
        {sums, Who} ->
            Who ! {sums, self(), {S#big.sent, S#big.sent_keys, S#big.served, S#big.served_keys}},
            peer(S)
    end.

ping(S) ->
    A = S#big.rnd bxor ((S#big.rnd bsl 13) band ?M32),
    B = A bxor (A bsr 17),
    R = B bxor ((B bsl 5) band ?M32),
    Other = (R * (tuple_size(S#big.peers) - 1)) bsr 32,
    To = if Other >= S#big.id -> Other + 1; true -> Other end,
    Key = (S#big.key * 31 + S#big.id + 1) band 16#ffffffffffff, % fits a word of the machine
    element(To + 1, S#big.peers) ! {ping, self(), Key},
    S#big{rnd = R, key = Key, left = S#big.left - 1, open = true, sent = S#big.sent + 1, sent_keys = (S#big.sent_keys + Key) band ?M64}.

%% Ask: a client sends a request, waits for the reply, sends the next.
ask() ->
    Main = self(),
    Server = spawn_link(fun() -> server(0) end),
    Client = spawn_link(fun() -> client(Main, Server, 0, 0, 0) end),
    put(ask, {Server, Client, 0}),
    {ask_do(Client), fun() ->
        {S, C, N} = get(ask),
        S ! {served, self()},
        receive {served, N} -> ok; {served, _} -> wrong("the server has served more or fewer requests") end,
        C ! {sums, self()},
        receive {sums, Sum, Sum} -> ok; {sums, _, _} -> wrong("the replies were not those to the requests") end
    end}.

ask_do(Client) ->
    fun(N) ->
        Client ! {ask, N},
        over(),
        {Server, Client, Asked} = get(ask),
        put(ask, {Server, Client, Asked + N}),
        ask_do(Client)
    end.

server(Served) ->
    receive
        {Who, Ref, X} ->
            Who ! {Ref, fill(X, 1)},
            server(Served + 1);
        {served, Who} -> Who ! {served, Served}, server(Served)
    end.

client(Main, Server, X, Want, Sum) ->
    receive
        {ask, N} -> asking(Main, Server, X, Want, Sum, N);
        {sums, Who} -> Who ! {sums, Want, Sum}, client(Main, Server, X, Want, Sum)
    end.

asking(Main, Server, X, Want, Sum, 0) ->
    Main ! {over, ok},
    client(Main, Server, X, Want, Sum);
asking(Main, Server, X, Want, Sum, Left) ->
    Request = (X * 16#9e3779b1 + 1) band ?M32,
    Ref = make_ref(),
    Server ! {self(), Ref, Request},
    receive
        {Ref, Y} -> asking(Main, Server, Request, Want + fill(Request, 1), Sum + Y, Left - 1)
    end.

%% Latency: messages are due at fixed times, whether those before them were handled or not. The one
%% who sends yields meanwhile, as timers are too coarse.
latency(Interval) ->
    Main = self(),
    Actor = spawn_link(fun() -> timed(Main, 0, []) end),
    Sender = spawn_link(fun() -> paced(Actor, Interval, 0) end),
    {latency_do(Sender), fun() -> ok end}.

latency_do(Sender) ->
    fun(N) ->
        Sender ! {send, N},
        Took = over(),
        length(Took) =:= N orelse wrong("other messages came than were sent"),
        put(latencies, [Took | get(latencies)]),
        latency_do(Sender)
    end.

paced(Actor, Interval, Seq) ->
    receive
        {send, N} -> paced(Actor, Interval, Seq, N, erlang:monotonic_time(nanosecond))
    end.

paced(Actor, Interval, Seq, 0, _) -> paced(Actor, Interval, Seq);
paced(Actor, Interval, Seq, Left, Due) ->
    await(Due),
    Actor ! {timed, Seq, Due, Left =:= 1},
    paced(Actor, Interval, Seq + 1, Left - 1, Due + Interval).

await(Due) ->
    case erlang:monotonic_time(nanosecond) of
        Now when Now < Due -> erlang:yield(), await(Due);
        _ -> ok
    end.

timed(Main, Seq, Took) ->
    receive
        {timed, Seq, Due, Last} ->
            All = [erlang:monotonic_time(nanosecond) - Due | Took],
            case Last of
                true -> Main ! {over, All}, timed(Main, Seq + 1, []);
                false -> timed(Main, Seq + 1, All)
            end;
        _ ->
            Main ! {wrong, "a message came out of order, or twice"},
            timed(Main, Seq, Took)
    end.

%% The percentiles of all latencies, if there are any.
figures() ->
    case lists:sort(lists:append(get(latencies))) of
        [] -> [];
        Sorted ->
            All = list_to_tuple(Sorted),
            [io_lib:format("\tx:~s=~b", [Unit, element(max(1, ceil(tuple_size(All) * P / 100)), All)]) || {Unit, P} <- ?LATENCIES]
    end.

%% Spawn: processes are made, 100,000 at a time, and sent a message each; then all stop.
-define(CROWD, 100000).

spawns() -> {fun spawns_do/1, fun() -> ok end}.

spawns_do(N) when N =< 0 -> fun spawns_do/1;
spawns_do(N) ->
    K = min(N, ?CROWD),
    Main = self(),
    All = [begin P = spawn(fun() -> newborn(Main, I) end), P ! {hello, I}, P end || I <- lists:seq(1, K)],
    Sum = lists:foldl(fun(_, S) -> S + over() end, 0, All),
    Sum =:= K * (K + 1) div 2 orelse wrong("a process had another's message"),
    pause(fun() ->
        [P ! stop || P <- All],
        [receive {stopped, P} -> ok end || P <- All]
    end),
    spawns_do(N - K).

newborn(Main, I) ->
    receive {hello, I} -> Main ! {over, I} end,
    receive stop -> Main ! {stopped, self()} end.

%% The programs after Savina in Erlang. Protocols, numbers and checks are those of
%% workloads/actor_savina_*.go. A program is a process for each actor; what each has counted it
%% says in the end, when it is asked with {state, Who}.
-module(savina).
-export([programs/0]).

-import(bench, [fill/2, share/3, over/0, wrong/1]).

-define(M32, 16#ffffffff).
-define(M64, 16#ffffffffffffffff).

%% Name, operations of the smallest whole piece, what prepares a run, as bench has them.
programs() ->
    [{"banking", 1, fun banking/0},
     {"barber", 1, fun barber/0},
     {"bndbuffer", 1, fun bndbuffer/0},
     {"concdict", 1, fun() -> dict(maps:from_list([{K, 0} || K <- lists:seq(0, 511)]), 0) end},
     {"concsll", 1, fun() -> dict([{K, 0} || K <- lists:seq(0, 511)], 1) end},
     {"fjthrput", 1, fun fjthrput/0},
     {"logmap", 1, fun logmap/0},
     {"philosopher", 1, fun philosopher/0},
     {"sieve", 99998, fun sieve/0},
     {"uct", 2000, fun uct/0}].

%% SplitMix64: a state, which is the seed to begin with, makes a number and the next state.
random(State) ->
    S = (State + 16#9e3779b97f4a7c15) band ?M64,
    A = ((S bxor (S bsr 30)) * 16#bf58476d1ce4e5b9) band ?M64,
    B = ((A bxor (A bsr 27)) * 16#94d049bb133111eb) band ?M64,
    {B bxor (B bsr 31), S}.

below(N, State) ->
    {R, S} = random(State),
    {((R bsr 32) * N) bsr 32, S}.

%% Shares N operations out among so many, of whom the first gets the first odd one: who, and how
%% many operations, of those who get any. Who is first changes from run to run.
deal(N, Of, First) -> [{(First + I) rem Of, share(N, I, Of)} || I <- lists:seq(0, min(N, Of) - 1)].

next_first(N, Of, First) -> (First + min(N, Of)) rem Of.

%% What a run does whose operations are dealt to so many: Begin starts those who have any, and each
%% says that it is over. Totals are in the dictionary of the process.
dealt(Of, Begin) ->
    put(totals, #{}),
    dealt(Of, Begin, fun length/1, 0).

dealt(Of, Begin, Parts, First) ->
    fun(N) ->
        Busy = deal(N, Of, First),
        put(totals, lists:foldl(fun({I, K}, T) -> maps:update_with(I, fun(Had) -> Had + K end, K, T) end, get(totals), Busy)),
        Begin(Busy, N),
        [over() || _ <- lists:seq(1, Parts(Busy))],
        dealt(Of, Begin, Parts, next_first(N, Of, First))
    end.

total(I) -> maps:get(I, get(totals), 0).

state(Process) ->
    Process ! {state, self()},
    receive {state, Process, State} -> State end.

tell(Who, State) -> Who ! {state, self(), State}.

start(Functions) -> [spawn_link(F) || F <- Functions].

repeat(_, 0, X) -> X;
repeat(F, N, X) -> repeat(F, N - 1, F(X)).

%% Banking: money is transferred between accounts, 64 transfers at a time.
-define(ACCOUNTS, 1000).
-define(OPENING, 1000000).
-define(TELLERS, 64).

banking() ->
    Main = self(),
    Accounts = list_to_tuple(start([fun() -> account(Main, ?OPENING, 0, none) end || _ <- lists:seq(1, ?ACCOUNTS)])),
    Desk = spawn_link(fun() -> desk(Main, Accounts, maps:from_list([{T, {T, 0, none}} || T <- lists:seq(0, ?TELLERS - 1)])) end),
    [A ! {desk, Desk} || A <- tuple_to_list(Accounts)],
    Begin = fun(Busy, _) -> Desk ! {transfers, Busy} end,
    {dealt(?TELLERS, Begin), fun() -> banking_check(Accounts) end}.

draw(Teller, Rnd) ->
    {F, R1} = below(share(?ACCOUNTS, Teller, ?TELLERS), Rnd),
    From = Teller + ?TELLERS * F,
    {T, R2} = below(?ACCOUNTS - 1, R1),
    To = if T >= From -> T + 1; true -> T end,
    {Amount, R3} = below(1000, R2),
    {{From, To, Amount}, R3}.

%% Of each teller the desk has its random numbers, transfers that are left, and the one under way.
desk(Main, Accounts, Tellers) ->
    receive
        {transfers, Busy} -> desk(Main, Accounts, lists:foldl(fun({T, K}, All) -> pay(Accounts, T, K, All) end, Tellers, Busy));
        {done, Teller, From} ->
            case Tellers of
                #{Teller := {Rnd, 1, From}} ->
                    Main ! {over, ok},
                    desk(Main, Accounts, Tellers#{Teller := {Rnd, 0, none}});
                #{Teller := {_, Left, From}} -> desk(Main, Accounts, pay(Accounts, Teller, Left - 1, Tellers));
                _ ->
                    Main ! {wrong, "a message of a transfer came twice, or of another"},
                    desk(Main, Accounts, Tellers)
            end
    end.

pay(Accounts, Teller, Left, Tellers) ->
    #{Teller := {Rnd, _, _}} = Tellers,
    {{From, To, Amount}, Next} = draw(Teller, Rnd),
    Payer = element(From + 1, Accounts),
    Payer ! {pay, Teller, element(To + 1, Accounts), Amount},
    Tellers#{Teller := {Next, Left, Payer}}.

account(Main, Balance, Paid, Waits) ->
    receive
        {desk, Desk} -> account(Main, Desk, Balance, Paid, Waits)
    end.

account(Main, Desk, Balance, Paid, Waits) ->
    receive
        {pay, Teller, To, Amount} when Waits =:= none ->
            To ! {paid, Teller, self(), Amount},
            account(Main, Desk, Balance - Amount, Paid, Teller);
        {paid, Teller, From, Amount} ->
            From ! {receipt, Teller},
            account(Main, Desk, Balance + Amount, Paid, Waits);
        {receipt, Waits} ->
            Desk ! {done, Waits, self()},
            account(Main, Desk, Balance, Paid + 1, none);
        {state, Who} ->
            tell(Who, {Balance, Paid}),
            account(Main, Desk, Balance, Paid, Waits);
        _ ->
            Main ! {wrong, "a message of a transfer came twice, out of order or to another account"},
            account(Main, Desk, Balance, Paid, Waits)
    end.

%% Makes the same transfers again, one after the other.
banking_check(Accounts) ->
    Books = maps:from_list([{I, {?OPENING, 0}} || I <- lists:seq(0, ?ACCOUNTS - 1)]),
    Again = fun(Teller, All) ->
        {_, Result} = repeat(fun({Rnd, B}) ->
            {{From, To, Amount}, Next} = draw(Teller, Rnd),
            #{From := {Had, Paid}} = B,
            After = B#{From := {Had - Amount, Paid + 1}},
            #{To := {Got, P}} = After,
            {Next, After#{To := {Got + Amount, P}}}
        end, total(Teller), {Teller, All}),
        Result
    end,
    Want = lists:foldl(Again, Books, lists:seq(0, ?TELLERS - 1)),
    [state(element(I + 1, Accounts)) =:= W orelse wrong("an account has another balance or other receipts than it should") || {I, W} <- maps:to_list(Want)].

%% Barber: customers come to a waiting room, which sends them to a sleeping barber one by one.
-define(CUSTOMERS, 64).
-define(CUT, 50).

barber() ->
    Main = self(),
    Chair = spawn_link(fun() -> receive {room, Room} -> chair(Main, Room, 0) end end),
    Room = spawn_link(fun() -> room(Main, Chair, queue:new(), free, 0, 0) end),
    Chair ! {room, Room},
    Customers = list_to_tuple(start([fun() -> customer(Main, Room, 0, 0, fill(I, 2)) end || I <- lists:seq(0, ?CUSTOMERS - 1)])),
    Begin = fun(Busy, N) ->
        Room ! {due, N},
        [element(I + 1, Customers) ! {cuts, K} || {I, K} <- Busy]
    end,
    put(totals, #{}),
    Check = fun() ->
        [state(element(I + 1, Customers)) =:= {total(I), fill(I, 2 + ?CUT * total(I))} orelse wrong("a customer has had other haircuts than it should")
         || I <- lists:seq(0, ?CUSTOMERS - 1)],
        {Came, 0} = state(Room),
        state(Chair) =:= Came orelse wrong("other customers were served than came")
    end,
    {dealt(?CUSTOMERS, Begin, fun(Busy) -> length(Busy) + 1 end, 0), Check}.

customer(Main, Room, Left, Had, Hair) ->
    receive
        {cuts, K} when Left =:= 0 ->
            Room ! {came, self(), Hair},
            customer(Main, Room, K, Had, Hair);
        {cut, New} when Left > 0 ->
            case Left of
                1 -> Main ! {over, ok};
                _ -> Room ! {came, self(), New}
            end,
            customer(Main, Room, Left - 1, Had + 1, New);
        {state, Who} ->
            tell(Who, {Had, Hair}),
            customer(Main, Room, Left, Had, Hair);
        _ ->
            Main ! {wrong, "a haircut came twice, or to another customer"},
            customer(Main, Room, Left, Had, Hair)
    end.

room(Main, Chair, Waiting, Barber, Came, Due) ->
    receive
        {due, N} -> room(Main, Chair, Waiting, Barber, Came, N);
        {came, Who, Hair} -> admit(Main, Chair, queue:in({next, Who, Came, Hair}, Waiting), Barber, Came + 1, Due);
        free when Barber =:= busy ->
            Due =:= 1 andalso (Main ! {over, ok}),
            admit(Main, Chair, Waiting, free, Came, Due - 1);
        {state, Who} ->
            tell(Who, {Came, queue:len(Waiting)}),
            room(Main, Chair, Waiting, Barber, Came, Due);
        _ ->
            Main ! {wrong, "the barber was free twice"},
            room(Main, Chair, Waiting, Barber, Came, Due)
    end.

admit(Main, Chair, Waiting, free, Came, Due) ->
    case queue:out(Waiting) of
        {{value, Next}, Rest} ->
            Chair ! Next,
            room(Main, Chair, Rest, busy, Came, Due);
        _ -> room(Main, Chair, Waiting, free, Came, Due)
    end;
admit(Main, Chair, Waiting, busy, Came, Due) -> room(Main, Chair, Waiting, busy, Came, Due).

chair(Main, Room, Served) ->
    receive
        {next, Who, Served, Hair} ->
            Who ! {cut, fill(Hair, ?CUT)},
            Room ! free,
            chair(Main, Room, Served + 1);
        {state, Who} ->
            tell(Who, Served),
            chair(Main, Room, Served);
        _ ->
            Main ! {wrong, "customers came to the barber in another order than to the room"},
            chair(Main, Room, Served)
    end.

%% Bounded buffer: 50 places between producers and consumers.
-define(PLACES, 50).
-define(ENDS, 40).
-define(WORK, 25).

-record(buffer, {main, free, filled = queue:new(), ready = queue:new(), idle, left = #{}, out = #{}, due = 0}).

bndbuffer() ->
    Main = self(),
    Buffer = spawn_link(fun() ->
        receive {consumers, All} ->
            buffer(#buffer{main = Main, free = queue:from_list(lists:seq(1, ?PLACES)), idle = queue:from_list(All)})
        end
    end),
    Producers = list_to_tuple(start([fun() -> producer(Main, Buffer, I, 0) end || I <- lists:seq(0, ?ENDS - 1)])),
    Consumers = start([fun() -> consumer(Main, Buffer, 0) end || _ <- lists:seq(1, ?ENDS)]),
    Buffer ! {consumers, Consumers},
    Begin = fun(Busy, N) -> Buffer ! {make, [{element(I + 1, Producers), K} || {I, K} <- Busy], N} end,
    put(totals, #{}),
    Check = fun() ->
        state(Buffer) =:= {?PLACES, ?ENDS} orelse wrong("a place of the buffer is missing"),
        [state(element(I + 1, Producers)) =:= total(I) orelse wrong("a producer has made other items than it should") || I <- lists:seq(0, ?ENDS - 1)],
        Want = lists:sum([lists:sum([fill(item(I, K), 2 * ?WORK) || K <- lists:seq(0, total(I) - 1)]) || I <- lists:seq(0, ?ENDS - 1)]),
        lists:sum([state(C) || C <- Consumers]) =:= Want orelse wrong("consumers have had other items than were made")
    end,
    {dealt(?ENDS, Begin, fun(_) -> 1 end, 0), Check}.

item(Producer, K) -> ((Producer bsl 24) bxor K) band ?M32.

%% Out has who has a place that is under way.
buffer(B) ->
    receive
        {make, Busy, N} -> buffer(match(B#buffer{left = maps:from_list(Busy), ready = queue:from_list([P || {P, _} <- Busy]), due = N}));
        {made, Place, From, Value} when map_get(Place, B#buffer.out) =:= From ->
            Ready = case B#buffer.left of
                        #{From := 0} -> B#buffer.ready;
                        _ -> queue:in(From, B#buffer.ready)
                    end,
            buffer(match(B#buffer{ready = Ready, filled = queue:in({Place, Value}, B#buffer.filled)}));
        {used, Place, From} when map_get(Place, B#buffer.out) =:= From ->
            B#buffer.due =:= 1 andalso (B#buffer.main ! {over, ok}),
            buffer(match(B#buffer{free = queue:in(Place, B#buffer.free), idle = queue:in(From, B#buffer.idle),
                                  out = maps:remove(Place, B#buffer.out), due = B#buffer.due - 1}));
        {state, Who} ->
            tell(Who, {queue:len(B#buffer.free), queue:len(B#buffer.idle)}),
            buffer(B);
        _ ->
            B#buffer.main ! {wrong, "an item came twice, or from another process"},
            buffer(B)
    end.

%% Sends what can be sent: filled places to consumers, empty ones to producers.
match(#buffer{filled = Filled, idle = Idle, free = Free, ready = Ready} = B) ->
    case {queue:out(Filled), queue:out(Idle), queue:out(Free), queue:out(Ready)} of
        {{{value, {Place, Value}}, F}, {{value, Who}, I}, _, _} ->
            Who ! {use, Place, Value},
            match(B#buffer{filled = F, idle = I, out = (B#buffer.out)#{Place => Who}});
        {_, _, {{value, Place}, F}, {{value, Who}, R}} ->
            Who ! {make, Place},
            #{Who := K} = Left = B#buffer.left,
            match(B#buffer{free = F, ready = R, left = Left#{Who := K - 1}, out = (B#buffer.out)#{Place => Who}});
        _ -> B
    end.

producer(Main, Buffer, I, Items) ->
    receive
        {make, Place} ->
            Buffer ! {made, Place, self(), fill(item(I, Items), ?WORK)},
            producer(Main, Buffer, I, Items + 1);
        {state, Who} ->
            tell(Who, Items),
            producer(Main, Buffer, I, Items)
    end.

consumer(Main, Buffer, Sum) ->
    receive
        {use, Place, Value} ->
            Used = fill(Value, ?WORK),
            Buffer ! {used, Place, self()},
            consumer(Main, Buffer, Sum + Used);
        {state, Who} ->
            tell(Who, Sum),
            consumer(Main, Buffer, Sum)
    end.

%% Dictionary: workers ask one server to read and to write. What it keeps is a map, or a list in the
%% order of keys; Sums of a hundred requests are for the sum of all.
-define(KEYS, 512).
-define(WORKERS, 20).
-define(WRITES, 10).

dict(Values, Sums) ->
    Main = self(),
    Server = spawn_link(fun() -> dict_server(Values, 0) end),
    Workers = list_to_tuple(start([fun() -> worker(Main, Server, Sums, I, erlang:make_tuple(?KEYS + 1, 0)) end || I <- lists:seq(0, ?WORKERS - 1)])),
    Begin = fun(Busy, _) -> [element(I + 1, Workers) ! {requests, K} || {I, K} <- Busy] end,
    {dealt(?WORKERS, Begin), fun() -> dict_check(Server, Sums) end}.

dict_server(Values, Served) ->
    receive
        {Worker, sum} ->
            Worker ! {self(), sum, lists:sum([V || {_, V} <- pairs(Values)])},
            dict_server(Values, Served + 1);
        {Worker, Key, Add} ->
            {Value, After} = look_up(Key, Add, Values),
            Worker ! {self(), Key, Value},
            dict_server(After, Served + 1);
        {state, Who} ->
            tell(Who, {Served, lists:sort(pairs(Values))}),
            dict_server(Values, Served)
    end.

pairs(Values) when is_map(Values) -> maps:to_list(Values);
pairs(Values) -> Values.

look_up(Key, 0, Values) when is_map(Values) -> {map_get(Key, Values), Values};
look_up(Key, Add, Values) when is_map(Values) ->
    V = map_get(Key, Values) + Add,
    {V, Values#{Key := V}};
look_up(Key, 0, Values) -> {walk(Key, Values), Values};
look_up(Key, Add, Values) -> add(Key, Add, Values).

walk(Key, [{Key, Value} | _]) -> Value;
walk(Key, [_ | Rest]) -> walk(Key, Rest).

add(Key, Add, [{Key, Value} | Rest]) -> {Value + Add, [{Key, Value + Add} | Rest]};
add(Key, Add, [First | Rest]) ->
    {Value, After} = add(Key, Add, Rest),
    {Value, [First | After]}.

%% A request: its key or sum, what it adds, and the next state of the random numbers.
request(Rnd, Sums) ->
    {Key, R1} = below(?KEYS, Rnd),
    case below(100, R1) of
        {Kind, R2} when Kind < ?WRITES ->
            {More, R3} = below(1000, R2),
            {Key, 1 + More, R3};
        {Kind, R2} when Kind < ?WRITES + Sums -> {sum, 0, R2};
        {_, R2} -> {Key, 0, R2}
    end.

worker(Main, Server, Sums, Rnd, Seen) ->
    receive
        {requests, K} -> asking(Main, Server, Sums, Rnd, Seen, K)
    end.

asking(Main, Server, Sums, Rnd, Seen, 0) ->
    Main ! {over, ok},
    worker(Main, Server, Sums, Rnd, Seen);
asking(Main, Server, Sums, Rnd, Seen, Left) ->
    {Key, Add, Next} = request(Rnd, Sums),
    {At, Request} = case Key of
                        sum -> {?KEYS + 1, {self(), sum}};
                        _ -> {Key + 1, {self(), Key, Add}}
                    end,
    Server ! Request,
    receive
        {Server, Key, Value} ->
            Value >= element(At, Seen) + Add orelse (Main ! {wrong, "a worker has read less than was there before"}),
            asking(Main, Server, Sums, Next, setelement(At, Seen, Value), Left - 1);
        {Server, _, _} ->
            Main ! {wrong, "a reply came twice, or to another worker"},
            asking(Main, Server, Sums, Next, Seen, Left - 1)
    end.

%% Makes the same requests again.
dict_check(Server, Sums) ->
    Again = fun(I, Values) ->
        {_, Result} = repeat(fun({Rnd, V}) ->
            case request(Rnd, Sums) of
                {_, 0, Next} -> {Next, V};
                {Key, Add, Next} -> {Next, maps:update_with(Key, fun(Had) -> Had + Add end, V)}
            end
        end, total(I), {I, Values}),
        Result
    end,
    Want = lists:foldl(Again, maps:from_list([{K, 0} || K <- lists:seq(0, ?KEYS - 1)]), lists:seq(0, ?WORKERS - 1)),
    Asked = lists:sum([total(I) || I <- lists:seq(0, ?WORKERS - 1)]),
    state(Server) =:= {Asked, lists:sort(maps:to_list(Want))} orelse wrong("the dictionary is not what the requests make of it").

%% Fork and join, throughput: one process sends to 60 others, which send each message back.
-define(RECEIVERS, 60).
-define(BUNDLES, (?RECEIVERS * 16)).

fjthrput() ->
    Main = self(),
    Receivers = list_to_tuple(start([fun() -> receiver(Main, I, 0, 0) end || I <- lists:seq(0, ?RECEIVERS - 1)])),
    Values = list_to_tuple([fill(B, 2) || B <- lists:seq(0, ?BUNDLES - 1)]),
    Nothing = erlang:make_tuple(?RECEIVERS, 0),
    Sender = spawn_link(fun() -> dispatcher(Main, Receivers, Values, Nothing, Nothing) end),
    Begin = fun(Busy, _) -> Sender ! {bundles, Busy} end,
    Check = fun() ->
        [begin
             Of = [B || B <- lists:seq(I, ?BUNDLES - 1, ?RECEIVERS)],
             Want = {lists:sum([total(B) || B <- Of]), lists:sum([total(B) * element(B + 1, Values) || B <- Of])},
             state(element(I + 1, Receivers)) =:= Want orelse wrong("a receiver has had other messages than it should")
         end || I <- lists:seq(0, ?RECEIVERS - 1)]
    end,
    {dealt(?BUNDLES, Begin), Check}.

%% A message carries how often its sender is still to send it.
dispatcher(Main, Receivers, Values, Sent, Back) ->
    receive
        {bundles, Busy} -> dispatcher(Main, Receivers, Values, lists:foldl(fun({B, K}, S) -> dispatch(Receivers, Values, B, K, S) end, Sent, Busy), Back);
        {back, B, Turn, Left} ->
            Home = B rem ?RECEIVERS + 1,
            Turn =:= element(Home, Back) orelse (Main ! {wrong, "a message came back twice, or out of order"}),
            After = setelement(Home, Back, Turn + 1),
            case Left of
                1 ->
                    Main ! {over, ok},
                    dispatcher(Main, Receivers, Values, Sent, After);
                _ -> dispatcher(Main, Receivers, Values, dispatch(Receivers, Values, B, Left - 1, Sent), After)
            end
    end.

dispatch(Receivers, Values, B, Left, Sent) ->
    Home = B rem ?RECEIVERS + 1,
    Turn = element(Home, Sent),
    element(Home, Receivers) ! {bundle, self(), B, Turn, Left, element(B + 1, Values)},
    setelement(Home, Sent, Turn + 1).

receiver(Main, I, Count, Sum) ->
    receive
        {bundle, From, B, Count, Left, Value} when B rem ?RECEIVERS =:= I ->
            From ! {back, B, Count, Left},
            receiver(Main, I, Count + 1, Sum + Value);
        {state, Who} ->
            tell(Who, {Count, Sum}),
            receiver(Main, I, Count, Sum);
        _ ->
            Main ! {wrong, "a message came twice, out of order or to another receiver"},
            receiver(Main, I, Count, Sum)
    end.

%% Logistic map: a master asks series for terms; each asks its computer and receives nothing else
%% until the answer is there.
-define(SERIES, 10).
-define(ASKS, (?SERIES * 16)).
-define(FIRST, ((1 bsl 31) div 100)).

logmap() ->
    Main = self(),
    Series = list_to_tuple(start([fun() ->
        Computer = spawn_link(fun() -> computer(I) end),
        series(Main, Computer, I, ?FIRST, 0)
    end || I <- lists:seq(0, ?SERIES - 1)])),
    Nothing = erlang:make_tuple(?SERIES, 0),
    Master = spawn_link(fun() -> master(Main, Series, Nothing, Nothing) end),
    Begin = fun(Busy, _) -> Master ! {terms, Busy} end,
    Check = fun() ->
        [begin
             Terms = lists:sum([total(M) || M <- lists:seq(I, ?ASKS - 1, ?SERIES)]),
             Want = {Terms, repeat(fun(X) -> term(I, X) end, Terms, ?FIRST)},
             state(element(I + 1, Series)) =:= Want orelse wrong("a series has other terms than it should")
         end || I <- lists:seq(0, ?SERIES - 1)]
    end,
    {dealt(?ASKS, Begin), Check}.

term(Series, X) ->
    Rate = ((34600 + 25 * Series) bsl 16) div 10000,
    ((((X * (X bxor ?M32)) bsr 32) * Rate) bsr 16) band ?M32.

master(Main, Series, Sent, Back) ->
    receive
        {terms, Busy} -> master(Main, Series, lists:foldl(fun({M, K}, S) -> ask_series(Series, M, K, S) end, Sent, Busy), Back);
        {term, M, Turn, Left} ->
            At = M rem ?SERIES + 1,
            Turn =:= element(At, Back) orelse (Main ! {wrong, "a term came twice, or out of order"}),
            After = setelement(At, Back, Turn + 1),
            case Left of
                1 ->
                    Main ! {over, ok},
                    master(Main, Series, Sent, After);
                _ -> master(Main, Series, ask_series(Series, M, Left - 1, Sent), After)
            end
    end.

ask_series(Series, M, Left, Sent) ->
    At = M rem ?SERIES + 1,
    Turn = element(At, Sent),
    element(At, Series) ! {next, self(), M, Turn, Left},
    setelement(At, Sent, Turn + 1).

series(Main, Computer, I, X, Terms) ->
    receive
        {next, Master, M, Terms, Left} when M rem ?SERIES =:= I ->
            Ref = make_ref(),
            Computer ! {self(), Ref, X},
            receive
                {Ref, Y} ->
                    Master ! {term, M, Terms, Left},
                    series(Main, Computer, I, Y, Terms + 1)
            end;
        {state, Who} ->
            tell(Who, {Terms, X}),
            series(Main, Computer, I, X, Terms);
        _ ->
            Main ! {wrong, "a request came twice, out of order or to another series"},
            series(Main, Computer, I, X, Terms)
    end.

computer(I) ->
    receive
        {Who, Ref, X} ->
            Who ! {Ref, term(I, X)},
            computer(I)
    end.

%% Philosophers: 20 ask an arbiter for their forks, eat and give them back.
-define(PHILOSOPHERS, 20).

philosopher() ->
    Main = self(),
    Arbiter = spawn_link(fun() -> arbiter(Main, #{}, [], 0) end),
    All = list_to_tuple(start([fun() -> philosopher(Main, Arbiter, I, 0, 0) end || I <- lists:seq(0, ?PHILOSOPHERS - 1)])),
    Begin = fun(Busy, _) -> [element(I + 1, All) ! {meals, K} || {I, K} <- Busy] end,
    Check = fun() ->
        Wants = [total(I) || I <- lists:seq(0, ?PHILOSOPHERS - 1)],
        [state(P) || P <- tuple_to_list(All)] =:= Wants orelse wrong("a philosopher has eaten more often or less than it should"),
        state(Arbiter) =:= {lists:sum(Wants), #{}, []} orelse wrong("the arbiter has served other meals than were eaten")
    end,
    {dealt(?PHILOSOPHERS, Begin), Check}.

philosopher(Main, Arbiter, I, Left, Eaten) ->
    receive
        {meals, K} when Left =:= 0 ->
            Arbiter ! {hungry, self(), I},
            philosopher(Main, Arbiter, I, K, Eaten);
        eat when Left > 0 ->
            Arbiter ! {full, self(), I, Left > 1},
            philosopher(Main, Arbiter, I, Left - 1, Eaten + 1);
        {state, Who} ->
            tell(Who, Eaten),
            philosopher(Main, Arbiter, I, Left, Eaten);
        _ ->
            Main ! {wrong, "a philosopher was let eat twice"},
            philosopher(Main, Arbiter, I, Left, Eaten)
    end.

%% The forks that are taken, each with who has it; those who wait, in the order in which they asked.
arbiter(Main, Taken, Waiting, Served) ->
    receive
        {hungry, Who, I} ->
            case serve(Who, I, Taken) of
                refused -> arbiter(Main, Taken, Waiting ++ [{Who, I}], Served);
                Now -> arbiter(Main, Now, Waiting, Served)
            end;
        {full, Who, I, Again} ->
            Right = (I + 1) rem ?PHILOSOPHERS,
            case Taken of
                #{I := Who, Right := Who} -> ok;
                _ -> Main ! {wrong, "a philosopher has eaten without its forks"}
            end,
            Queue = case Again of
                        true -> Waiting ++ [{Who, I}];
                        false -> Waiting
                    end,
            {Still, Now} = lists:foldl(fun({P, At}, {S, T}) ->
                case serve(P, At, T) of
                    refused -> {[{P, At} | S], T};
                    More -> {S, More}
                end
            end, {[], maps:without([I, Right], Taken)}, Queue),
            Again orelse (Main ! {over, ok}),
            arbiter(Main, Now, lists:reverse(Still), Served + 1);
        {state, Who} ->
            tell(Who, {Served, Taken, Waiting}),
            arbiter(Main, Taken, Waiting, Served)
    end.

serve(Who, I, Taken) ->
    Right = (I + 1) rem ?PHILOSOPHERS,
    case Taken of
        #{I := _} -> refused;
        #{Right := _} -> refused;
        _ ->
            Who ! eat,
            Taken#{I => Who, Right => Who}
    end.

%% Sieve: numbers go through filters, each of which keeps a thousand primes.
-define(LIMIT, 100000).
-define(PRIMES, 1000).
-define(FILTERS, 10).
-define(CHUNK, 512).

sieve() ->
    Main = self(),
    Generator = spawn_link(fun() -> receive {filter, First} -> generator(Main, First, 2, 0, 0, 0, 0) end end),
    Known = primes(lists:seq(2, ?LIMIT - 1)),
    {First, Filters} = lists:foldl(fun(I, {To, All}) ->
        F = spawn_link(fun() -> filter(Main, To, part(I, Known), [], 0, 0, 0, 0) end),
        {F, [{I, F} | All]}
    end, {Generator, []}, lists:seq(?FILTERS - 1, 0, -1)),
    Generator ! {filter, First},
    Do = fun(Self, N) ->
        Generator ! {numbers, N},
        over(),
        fun(More) -> Self(Self, More) end
    end,
    Check = fun() ->
        Next = state(Generator),
        [state(F) =:= [P || P <- part(I, Known), P < Next] orelse wrong("a filter has other numbers than the primes that it should") || {I, F} <- Filters]
    end,
    {fun(N) -> Do(Do, N) end, Check}.

primes([P | _] = Numbers) when P * P > ?LIMIT -> Numbers;
primes([P | Rest]) -> [P | primes([N || N <- Rest, N rem P =/= 0])].

part(I, Known) -> lists:sublist(Known, I * ?PRIMES + 1, ?PRIMES).

generator(Main, To, Next, Left, Out, Turn, Back) ->
    receive
        {numbers, N} ->
            {Next1, Left1, Out1, Turn1} = generate(To, generate(To, {Next, N, Out, Turn})),
            generator(Main, To, Next1, Left1, Out1, Turn1, Back);
        {mark, Back, _, _} ->
            {Next1, Left1, Out1, Turn1} = generate(To, {Next, Left, Out - 1, Turn}),
            Out1 =:= 0 andalso (Main ! {over, ok}),
            generator(Main, To, Next1, Left1, Out1, Turn1, Back + 1);
        {state, Who} ->
            tell(Who, Next),
            generator(Main, To, Next, Left, Out, Turn, Back);
        _ ->
            Main ! {wrong, "a chunk has come back twice, or too early"},
            generator(Main, To, Next, Left, Out, Turn, Back)
    end.

generate(_, {_, 0, _, _} = Done) -> Done;
generate(To, {Next, Left, Out, Turn}) ->
    K = lists:min([Left, ?CHUNK, ?LIMIT - Next]),
    send_numbers(To, Next, Next + K),
    Clear = Next + K =:= ?LIMIT,
    To ! {mark, Turn, K, Clear},
    {if Clear -> 2; true -> Next + K end, Left - K, Out + 1, Turn + 1}.

send_numbers(_, End, End) -> ok;
send_numbers(To, N, End) ->
    To ! N,
    send_numbers(To, N + 1, End).

%% The smallest primes are in front, since they divide more numbers.
filter(Main, To, Want, Has, Count, Before, Came, Passed) ->
    receive
        N when is_integer(N), N > Before ->
            case divides(N, Has) of
                true -> filter(Main, To, Want, Has, Count, N, Came + 1, Passed);
                false when Count < ?PRIMES -> filter(Main, To, Want, Has ++ [N], Count + 1, N, Came + 1, Passed);
                false ->
                    To ! N,
                    filter(Main, To, Want, Has, Count, N, Came + 1, Passed + 1)
            end;
        {mark, Turn, Came, Clear} ->
            To ! {mark, Turn, Passed, Clear},
            case Clear of
                true ->
                    Has =:= Want orelse (Main ! {wrong, "a filter has other numbers than the primes that it should"}),
                    filter(Main, To, Want, [], 0, 0, 0, 0);
                false -> filter(Main, To, Want, Has, Count, Before, 0, 0)
            end;
        {state, Who} ->
            tell(Who, Has),
            filter(Main, To, Want, Has, Count, Before, Came, Passed);
        _ ->
            Main ! {wrong, "a number has come twice, or out of order, or is missing"},
            filter(Main, To, Want, Has, Count, Before, Came, Passed)
    end.

divides(_, []) -> false;
divides(N, [P | _]) when N rem P =:= 0 -> true;
divides(N, [_ | Rest]) -> divides(N, Rest).

%% A walk through an unbalanced tree of processes.
-define(NODES, 2000).
-define(CHILDREN, 10).

uct() ->
    Main = self(),
    {Works, Children} = tree(0, 1, ?NODES, [], []),
    Own = [fill(I, W) || {I, W} <- lists:zip(lists:seq(0, ?NODES - 1), Works)],
    UpTo = list_to_tuple(lists:reverse(lists:foldl(fun(O, [S | _] = All) -> [S + O | All] end, [0], Own))),
    Processes = list_to_tuple(start([fun() -> receive {tree, Parent, Below} -> tree_node(Main, Parent, I, W, Below) end end
                                     || {I, W} <- lists:zip(lists:seq(0, ?NODES - 1), Works)])),
    Parents = maps:from_list([{C, I} || {I, Cs} <- lists:zip(lists:seq(0, ?NODES - 1), Children), C <- Cs]),
    [begin
         Parent = case Parents of
                      #{I := P} -> element(P + 1, Processes);
                      _ -> Main
                  end,
         element(I + 1, Processes) ! {tree, Parent, [{C, element(C + 1, Processes)} || C <- Cs]}
     end || {I, Cs} <- lists:zip(lists:seq(0, ?NODES - 1), Children)],
    put(uct, {0, 0, 0, 0}),
    Root = element(1, Processes),
    Do = fun(Self, N) ->
        Walks = lists:duplicate(N div ?NODES, ?NODES) ++ [N rem ?NODES || N rem ?NODES > 0],
        [begin
             Root ! {visit, First},
             {Nodes, Sum} = receive {answer, Root, A, B} -> {A, B}; {wrong, What} -> wrong(What) end,
             {Asked, AskedSum, Found, FoundSum} = get(uct),
             put(uct, {Asked + First, AskedSum + element(First + 1, UpTo), Found + Nodes, FoundSum + Sum})
         end || First <- Walks],
        fun(More) -> Self(Self, More) end
    end,
    Check = fun() ->
        {Asked, AskedSum, Found, FoundSum} = get(uct),
        {Asked, AskedSum} =:= {Found, FoundSum} orelse wrong("other nodes were visited than should be")
    end,
    {fun(N) -> Do(Do, N) end, Check}.

%% The work of each node, and its children.
tree(I, _, _, Works, Children) when I =:= ?NODES -> {lists:reverse(Works), lists:reverse(Children)};
tree(I, Known, Rnd, Works, Children) ->
    {W, R1} = below(21, Rnd),
    {Odds, R2} = below(9, R1),
    Mine = if
               Odds > 0, Known > I + 1 -> [];
               true -> lists:seq(Known, min(Known + ?CHILDREN, ?NODES) - 1)
           end,
    tree(I + 1, Known + length(Mine), R2, [40 + W | Works], [Mine | Children]).

tree_node(Main, Parent, I, Work, Below) ->
    receive
        {visit, First} ->
            Sum = fill(I, Work),
            Open = [Child || {C, Child} <- Below, C < First],
            [Child ! {visit, First} || Child <- Open],
            answers(Main, Parent, I, Work, Below, Open, 1, Sum);
        _ ->
            Main ! {wrong, "a node was answered twice, or another one was"},
            tree_node(Main, Parent, I, Work, Below)
    end.

%% Open are the children that have not answered.
answers(Main, Parent, I, Work, Below, [], Nodes, Sum) ->
    Parent ! {answer, self(), Nodes, Sum},
    tree_node(Main, Parent, I, Work, Below);
answers(Main, Parent, I, Work, Below, Open, Nodes, Sum) ->
    receive
        {answer, Child, N, S} ->
            lists:member(Child, Open) orelse (Main ! {wrong, "a node was answered twice, or another one was"}),
            answers(Main, Parent, I, Work, Below, lists:delete(Child, Open), Nodes + N, Sum + S);
        _ ->
            Main ! {wrong, "a node was visited twice"},
            answers(Main, Parent, I, Work, Below, Open, Nodes, Sum)
    end.

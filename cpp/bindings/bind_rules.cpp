// Rules, TileSet, Deck.
#include <fstream>

#include "bindings.hpp"
#include "carc/core/deck.hpp"
#include "carc/core/error.hpp"

namespace carc::python {

// A deck with a position: the next tile to draw.
struct PyDeck {
  PyRules rules;
  Deck deck;
  std::size_t next = 0;

  Action draw() {
    if (next >= deck.size())
      throw DeckError("deck: found no tile left after " + std::to_string(deck.size()) + ", expected one");
    return Action::draw(deck.order()[next++]);
  }
  std::vector<std::string> ids() const {
    std::vector<std::string> out;
    for (const TypeId t : deck.order()) out.push_back(rules.game->tile(t).id);
    return out;
  }
};

namespace {

using TileSetPtr = std::shared_ptr<const TileSet>;
using TilesPath = Path<"path", TileSetError>;

TileSetPtr load_tile_set(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw TileSetError("cannot read the tile set file " + quote(path));
  constexpr std::size_t kLargest = 1 << 20;
  std::string text(kLargest + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.empty() || text.size() > kLargest) {
    throw TileSetError("tile set file " + quote(path) + ": found " +
                       (text.empty() ? "nothing to read" : "more than 1 MiB") + ", expected a JSON document");
  }
  const std::size_t slash = path.find_last_of('/');
  const std::string file_name = printable(slash == std::string::npos ? path : path.substr(slash + 1));
  return TileSet::parse(text, file_name.substr(0, file_name.find_last_of('.')));
}

// Sets an option from a Python value; throws RulesError naming the option and the values that it can have.
void set_option(Rules& rules, const py::handle& name, const py::handle& value) {
  const auto key = as_text(name);
  if (!key) throw RulesError("found the option " + found(name) + ", expected a name");
  if (*key == "tiles") {
    if (py::isinstance<TileSet>(value)) {
      rules.tiles = std::make_shared<TileSet>(value.cast<const TileSet&>());
      return;
    }
    const bool is_name = as_text(value) == "base";
    if (!is_name && (py::isinstance<py::str>(value) || py::hasattr(value, "__fspath__"))) {
      rules.tiles = load_tile_set(value.cast<TilesPath>().value);
      return;
    }
  }
  Json json;
  try {
    json = to_json_value(value);
  } catch (const Error& error) {
    for (const RulesOption& known : rules_options()) {
      if (known.name != *key || *key == "tiles") continue;
      std::string values;
      for (const std::string& v : known.values) values += (values.empty() ? "" : ", ") + v;
      refuse<RulesError>(*key, value, "one of " + values);
    }
    if (*key == "tiles") throw RulesError("tiles: " + std::string(error.what()));
  }
  rules.set(*key, json);
}

PyRules make_rules(Rules rules, const py::dict& options) {
  const auto copy =
      py::reinterpret_steal<py::dict>(PyDict_Copy(options.ptr()));  // reading a value may change `options`
  for (const auto& [name, value] : copy) set_option(rules, name, value);
  return {Game::create(rules)};
}

PyRules rules_from_json(const std::string& text) {
  return {Game::create(Rules::from_json(parse_json<RulesError>(text, "rules")))};
}

py::object option(const PyRules& self, const char* name) {
  return from_json_value(Json::parse(self.rules().to_json().dump())[name]);
}

py::typing::List<py::str> tile_ids(const TileSet& set) {
  py::typing::List<py::str> out;
  for (const auto* list : {&set.base, &set.river_2021}) {
    for (const TileType& t : *list) out.append(t.id);
  }
  return out;
}

// A start (tile, x, y, rotation).
Start read_start(const Game& game, const py::object& start) {
  constexpr int kFarthest = 40;
  if (!(PyTuple_Check(start.ptr()) || PyList_Check(start.ptr())) || py::len(start) != 4)
    refuse<RecordError>("start", start, "(tile, x, y, rotation)");
  const py::tuple parts(start);
  const auto id = parts[0].cast<Text<"start tile", RecordError>>();
  const auto x = parts[1].cast<Whole<int, "start x", -kFarthest, kFarthest, RecordError>>();
  const auto y = parts[2].cast<Whole<int, "start y", -kFarthest, kFarthest, RecordError>>();
  const auto rotation = parts[3].cast<Whole<int, "start rotation", 0, 3, RecordError>>();
  return {game.require<RecordError>(id).type,
          {static_cast<std::int16_t>(x), static_cast<std::int16_t>(y)},
          static_cast<std::uint8_t>(rotation)};
}

PyState make_state(const PyRules& rules, const PyDeck* deck,
                   Whole<int, "first_player", 0, kMaxPlayers - 1, RulesError> first_player, const py::object& start) {
  const Start first = start.is_none() ? Start{rules.game->start()} : read_start(*rules.game, start);
  if (deck && deck->rules.game != rules.game && deck->rules.rules() != rules.rules()) {
    throw DeckError("deck: was made for other rules than the state");
  }
  return {rules.game, GameState(*rules.game, first, deck ? deck->deck.bag() : rules.game->bag(), first_player)};
}

PickledText pickle_deck(const PyDeck& deck) {
  return {{OrderedJson{{"rules", deck.rules.rules().to_json()}, {"tiles", deck.ids()}, {"next", deck.next}}.dump()}};
}

PyDeck unpickle_deck(const PickledText& pickled) {
  const Json json = parse_json<DeckError>(pickled.item.value, "deck");
  const auto game = Game::create(Rules::from_json(require_key<DeckError>(json, "rules", "deck")));
  std::vector<std::string> tiles;
  for (const Json& id : require_array<DeckError>(require_key<DeckError>(json, "tiles", "deck"), "tiles"))
    tiles.push_back(require_string<DeckError>(id, "tiles"));
  const int next = require_int<DeckError>(require_key<DeckError>(json, "next", "deck"), 0,
                                          static_cast<int>(std::min<std::size_t>(tiles.size(), kMaxTiles)), "next");
  return {{game}, Deck::from_ids(*game, tiles), static_cast<std::size_t>(next)};
}

int draw_from(PyState& self, PyDeck& deck) {
  if (deck.rules.game != self.game && deck.rules.rules() != self.game->rules())
    throw DeckError("deck: was made for other rules than the state");
  int discarded = 0;
  if (self.state.phase() != Phase::kDraw) {
    throw IllegalAction("draw: found phase " + std::string(kPhaseNames[static_cast<std::size_t>(self.state.phase())]) +
                        ", expected draw");
  }
  PyState state = self;  // nothing changes if the deck runs out or does not fit
  PyDeck rest = deck;
  while (state.state.phase() == Phase::kDraw) {
    state.state.apply_checked(rest.draw());
    discarded += state.state.drawn_tile() < 0;
  }
  self.state = state.state;
  deck.next = rest.next;
  return discarded;
}

}  // namespace

void bind_rules(py::module_& m) {
  py::class_<TileSet, std::shared_ptr<TileSet>>(m, "TileSet",
                                                "Tile types with their counts, in the format of tiles.json.")
      .def_static(
          "standard", [] { return std::const_pointer_cast<TileSet>(TileSet::standard()); }, "The tiles of the box.")
      .def_static(
          "load", [](const TilesPath& path) { return std::const_pointer_cast<TileSet>(load_tile_set(path.value)); },
          py::arg("path"), "Read a tile set file; raises TileSetError naming the tile and what is wrong with it.")
      .def_static(
          "from_json",
          [](const Text<"text", TileSetError>& text, const Text<"name", TileSetError>& name) {
            return std::const_pointer_cast<TileSet>(TileSet::parse(text.value, name));
          },
          py::arg("text"), py::arg("name") = "custom", "Read a tile set from JSON text.")
      .def("to_json", [](const TileSet& self) { return self.to_json().dump(); })
      .def_readonly("name", &TileSet::name)
      .def_readonly("start", &TileSet::start, "Id of the start tile.")
      .def_property_readonly("ids", &tile_ids, "Ids of the base tiles, then of the river tiles.")
      .def(
          "__eq__", [](const TileSet& a, const TileSet& b) { return a == b; }, py::is_operator())
      .def(
          "__eq__", [](const TileSet&, const py::object&) { return false; }, py::is_operator())
      .def("__hash__", [](const TileSet& self) { return py::hash(py::str(self.to_json().dump())); })
      .def("__copy__", [](const TileSet& self) { return std::make_shared<TileSet>(self); })
      .def(
          "__deepcopy__", [](const TileSet& self, const py::dict&) { return std::make_shared<TileSet>(self); },
          py::arg("memo"))
      .def(py::pickle([](const TileSet& self) { return PickledText{{self.to_json().dump()}}; },
                      [](const PickledText& pickled) {
                        return std::const_pointer_cast<TileSet>(TileSet::parse(pickled.item.value, "custom"));
                      }))
      .def("__repr__", [](const TileSet& self) {
        return "<TileSet " + self.name + ": " + std::to_string(self.base.size()) + " base types>";
      });

  py::class_<PyRules> rules(m, "Rules",
                            "The options of the rules: one immutable value. Options are listed by `carc rules`.");
  rules
      .def(py::init([](const py::kwargs& options) { return make_rules(Rules(), options); }),
           "Make rules from keyword options (players=4, abbot=True, ...); the others keep their defaults. Raises "
           "RulesError.")
      .def_static(
          "preset",
          [](const Text<"name", RulesError>& name, const py::kwargs& options) {
            return make_rules(Rules::preset(name), options);
          },
          py::arg("name"), "A named preset, with options changed by keyword.")
      .def_static(
          "from_dict", [](const py::dict& options) { return make_rules(Rules(), options); }, py::arg("options"),
          "Rules from a dict of option names and values.")
      .def_static(
          "from_json", [](const Text<"text", RulesError>& text) { return rules_from_json(text); }, py::arg("text"))
      .def(
          "replace", [](const PyRules& self, const py::kwargs& options) { return make_rules(self.rules(), options); },
          "The same rules with options changed by keyword.")
      .def("to_json", [](const PyRules& self) { return self.rules().to_json().dump(); })
      .def("to_dict",
           [](const PyRules& self) -> py::typing::Dict<py::str, py::object> {
             return from_json_value(Json::parse(self.rules().to_json().dump()));
           })
      .def_property_readonly("tiles",
                             [](const PyRules& self) { return std::const_pointer_cast<TileSet>(self.rules().tiles); })
      .def_property_readonly("tiles_to_draw", [](const PyRules& self) { return self.game->tiles_to_draw(); })
      .def(
          "__eq__", [](const PyRules& a, const PyRules& b) { return a.game == b.game || a.rules() == b.rules(); },
          py::is_operator())
      .def(
          "__eq__", [](const PyRules&, const py::object&) { return false; }, py::is_operator())
      .def("__hash__", [](const PyRules& self) { return py::hash(py::str(self.rules().to_json().dump())); })
      .def("__repr__",
           [](const PyRules& self) {
             const OrderedJson changed = self.rules().to_json(), usual = Rules().to_json();
             std::string out = "Rules(";
             for (const auto& [key, value] : changed.items()) {
               if (value == usual[key]) continue;
               if (out.back() != '(') out += ", ";
               out += key + "=" +
                      (key == "tiles" ? "<" + self.rules().tiles->name + ">"
                                      : py::cast<std::string>(py::repr(from_json_value(Json(value)))));
             }
             return out + ")";
           })
      .def(py::pickle([](const PyRules& self) { return PickledText{{self.rules().to_json().dump()}}; },
                      [](const PickledText& pickled) { return rules_from_json(pickled.item); }));
  rules.def_property_readonly("players", [](const PyRules& self) { return self.rules().players; });
  rules.def_property_readonly("small_city", [](const PyRules& self) { return self.rules().small_city; });
  for (const char* name : {"farmers", "abbot", "farmer_recall"}) {
    rules.def_property_readonly(name, [name](const PyRules& self) -> py::bool_ { return option(self, name); });
  }
  for (const char* name : {"field_scoring", "river", "river_turns", "river_start_tile", "join_cities", "tie_points"}) {
    rules.def_property_readonly(name, [name](const PyRules& self) -> py::str { return option(self, name); });
  }

  m.def(
      "rules_options",
      [] {
        py::typing::List<py::typing::Tuple<py::str, py::typing::List<py::object>, py::str>> out;
        for (const RulesOption& o : rules_options()) {
          py::list values;
          for (const std::string& v : o.values) values.append(from_json_value(Json::parse(v)));
          out.append(py::make_tuple(o.name, values, o.meaning));
        }
        return out;
      },
      "Every option: (name, values with the default first, meaning).");
  m.def(
      "rules_presets",
      [] {
        py::typing::List<py::typing::Tuple<py::str, py::str>> out;
        for (const RulesPreset& p : rules_presets()) out.append(py::make_tuple(p.name, p.meaning));
        return out;
      },
      "Every preset: (name, meaning).");

  py::class_<PyDeck> deck(m, "Deck", "The hidden order of the tiles of one game.");
  bind_copies(deck);
  deck.def(py::init([](const PyRules& rules, Whole<std::uint64_t, "seed"> seed) {
             return PyDeck{rules, Deck(*rules.game, seed)};
           }),
           py::arg("rules"), py::kw_only(), py::arg("seed"), "The rules' bag in an order given by the seed.")
      .def(py::init([](const PyRules& rules, const Many<Text<"tiles", DeckError>, "tiles", DeckError>& tiles) {
             return PyDeck{rules, Deck::from_ids(*rules.game, tiles.texts())};
           }),
           py::arg("rules"), py::kw_only(), py::arg("tiles"),
           "Exactly these tiles in this order: a prepared order of the bag, or any other list (at most 83).")
      .def("draw", &PyDeck::draw, "Take the next tile, as an action; raises DeckError at the end.")
      .def_property_readonly("tiles", &PyDeck::ids, "All tile ids, in order.")
      .def_property_readonly(
          "left", [](const PyDeck& self) { return self.deck.size() - self.next; }, "Tiles still to draw.")
      .def("__len__", [](const PyDeck& self) { return self.deck.size(); })
      .def(py::pickle(&pickle_deck, &unpickle_deck))
      .def("__repr__", [](const PyDeck& self) {
        return "<Deck of " + std::to_string(self.deck.size()) + " tiles, " +
               std::to_string(self.deck.size() - self.next) + " left>";
      });

  py::class_<PyState>(m, "GameState",
                      "The position of one game. Copies are independent; a state never knows the order of the deck.")
      .def(py::init(&make_state), py::arg("rules"), py::arg("deck") = nullptr, py::kw_only(),
           py::arg("first_player") = 0, py::arg("start") = py::none(),
           "A new game. `deck` makes its tiles the bag (otherwise the bag of the rules); `start` is (tile, x, y, "
           "rotation).")
      .def("draw", &draw_from, py::arg("deck"),
           "Draw from the deck until a tile can be laid or the game is over; returns the number of tiles discarded.");
}

}  // namespace carc::python
